"""`postgresql://user:password@host:5432/database`; query options are passed to the driver (`sslmode=require`)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from holdfast.errors import StoreMisconfigured
from holdfast.persistence.sql.postgresql.store import PostgresStore


def postgresql_from_url(url: str, **options: Any) -> PostgresStore:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError as error:
        raise StoreMisconfigured(
            f"'{parts.netloc}' has no valid port. Write postgresql://user@host:5432/database"
        ) from error
    if not parts.path.strip("/") or port == 0:
        raise StoreMisconfigured("The address has no database. Write postgresql://user:password@host:5432/database")
    return PostgresStore(url, **options)
