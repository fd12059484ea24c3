"""MySQL 8 and MariaDB 10.6 or newer: look under locks, compare in Python, write the survivors (rule M16)."""

from __future__ import annotations

from holdfast.persistence.sql.mysql.store import MysqlStore

__all__ = ["MysqlStore"]
