"""PostgreSQL 14 and newer: one statement per batch of commits, group commit over a few lanes, lists behind it."""

from __future__ import annotations

from holdfast.persistence.sql.postgresql.store import PostgresStore

__all__ = ["PostgresStore"]
