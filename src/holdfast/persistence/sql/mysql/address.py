"""Where a MySQL server is, and as whom to go there."""

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
    """None: not encrypted."""
    connect_timeout: timedelta = timedelta(seconds=10)
    """How long the server may take to answer a connection."""

    @property
    def place(self) -> str:
        return self.unix_socket or f"{self.host}:{self.port}"
