"""SQLite: the default store, embedded. One writer thread with group commit, readers beside it."""

from __future__ import annotations

from holdfast.persistence.sql.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
