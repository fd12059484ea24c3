"""`sqlite:///file.db` (from here) and `sqlite:////data/file.db` (from the root)."""

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
            f"'{url}' names a host, but SQLite is a file. With three slashes it is a file: sqlite:///{parts.netloc}"
        )
    if not path or path == ":memory:":
        raise StoreMisconfigured(f"'{url}' names no file. Write sqlite:///holdfast.db, or memory:// to keep nothing.")
    if parts.query:
        raise StoreMisconfigured(f"'{url}' has options behind '?', but SQLite takes none. Remove them.")
    return Path(path)
