"""Address and credentials of a MySQL server."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from ssl import SSLContext


@dataclass(frozen=True, slots=True)
class MysqlAddress:
    host: str = "127.0.0.1"
    port: int = 3306
    user: str = "root"
    password: str = field(default="", repr=False)
    database: str = ""
    unix_socket: str | None = None
    tls: SSLContext | None = field(default=None, repr=False)
    """None for an unencrypted connection."""
    connect_timeout: timedelta = timedelta(seconds=10)
    """Time that the server may take to accept a connection."""

    @property
    def place(self) -> str:
        return self.unix_socket or f"{self.host}:{self.port}"
