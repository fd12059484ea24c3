"""SQLite: the embedded default store, with one writer thread for group commit and separate reader threads."""

from __future__ import annotations

from holdfast.persistence.sql.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
