"""`sqlite:///file.db` (relative path) and `sqlite:////data/file.db` (absolute path)."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from holdfast.errors import StoreMisconfigured
from holdfast.persistence.sql.sqlite.store import SqliteStore


def sqlite_from_url(url: str, **options: Any) -> SqliteStore:
    return SqliteStore(sqlite_path(url), **options)


def sqlite_path(url: str) -> Path:
    parts = urlsplit(url)
    path = unquote(parts.path)[1:]
    if parts.netloc:
        raise StoreMisconfigured(
            f"'{url}' has a host, but SQLite is a file. Write three slashes: sqlite:///{parts.netloc}"
        )
    if not path or path == ":memory:":
        raise StoreMisconfigured(
            f"'{url}' has no file. Write sqlite:///holdfast.db, or memory:// for a store in memory."
        )
    if parts.query:
        raise StoreMisconfigured(f"'{url}' has options after '?', but SQLite takes none. Remove them.")
    return Path(path)
