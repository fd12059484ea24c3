"""WebSocket connections that count toward the limits of connections."""

from __future__ import annotations

from asyncio.transports import BaseTransport
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class BoundedWebSocketProtocol(WebSocketsSansIOProtocol):
    """The HTTP protocol hands its connection over, and with it the connection's place in the counts."""

    config: Any
    """A `ServerConfig`: uvicorn passes its configuration through."""

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self._host = self.client[0] if self.client else None

    def connection_lost(self, exc: Exception | None) -> None:
        self.config.counts.leave(self._host)
        super().connection_lost(exc)
