"""PostgreSQL 14 and newer: one statement per batch of commits, group commit on a few lanes, and a projected list."""

from __future__ import annotations

from holdfast.persistence.sql.postgresql.store import PostgresStore

__all__ = ["PostgresStore"]
