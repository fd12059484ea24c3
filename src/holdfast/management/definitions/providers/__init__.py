"""Sources of definitions besides the store: code of this process, and files."""

from __future__ import annotations

from holdfast.management.definitions.providers.code import CodeProvider
from holdfast.management.definitions.providers.files import FileProvider

__all__ = ["CodeProvider", "FileProvider"]
