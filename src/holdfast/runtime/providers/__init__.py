"""Where definitions come from besides the store: code of this process, and folders of files."""

from __future__ import annotations

from holdfast.runtime.providers.code import CodeProvider
from holdfast.runtime.providers.folder import FolderProvider

__all__ = ["CodeProvider", "FolderProvider"]
