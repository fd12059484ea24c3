"""MySQL 8 and MariaDB 10.6 or newer: read under locks, check guards in Python, write the accepted commits (rule M16)."""

from __future__ import annotations

from holdfast.persistence.sql.mysql.store import MysqlStore

__all__ = ["MysqlStore"]
