"""`postgresql://user:password@host:5432/database`, or several hosts: `postgresql://user@host1:5432,host2:5432/database`.

Query options are passed to the driver (`sslmode=require`, `target_session_attrs=read-write`). With several hosts, the
driver connects to the first one that answers and has the requested role.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from holdfast.errors import StoreMisconfigured
from holdfast.persistence.sql.postgresql.store import PostgresStore


def postgresql_from_url(url: str, **options: Any) -> PostgresStore:
    parts = urlsplit(url)
    hosts = parts.netloc.rpartition("@")[2].split(",")
    for host in hosts:
        _check_port(host, several=len(hosts) > 1)
    if not parts.path.strip("/"):
        raise StoreMisconfigured("The address has no database. Write postgresql://user:password@host:5432/database")
    return PostgresStore(url, **options)


def _check_port(host: str, *, several: bool) -> None:
    example = "postgresql://user@host:5432/database"
    if several:
        example = "postgresql://user@host1:5432,host2:5432/database?target_session_attrs=read-write"
        if not host:
            raise StoreMisconfigured(f"The address has a comma without a host. Write {example}")
    try:
        port = urlsplit(f"//{host}").port
    except ValueError as error:
        raise StoreMisconfigured(f"'{host}' has no valid port. Write {example}") from error
    if port == 0:
        raise StoreMisconfigured(f"'{host}' has the port 0. Write {example}")
