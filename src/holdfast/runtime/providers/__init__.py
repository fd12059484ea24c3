"""Where definitions come from besides the store: code of this process, and files."""

from __future__ import annotations

from holdfast.runtime.providers.code import CodeProvider
from holdfast.runtime.providers.files import FileProvider

__all__ = ["CodeProvider", "FileProvider"]
