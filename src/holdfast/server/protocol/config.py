"""Configuration of the HTTP server: uvicorn with protocols that enforce limits while they read."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import uvicorn

from holdfast.server.protocol.http import BoundedHttpProtocol
from holdfast.server.protocol.limits import ConnectionCounts, ConnectionLimits
from holdfast.server.protocol.websocket import BoundedWebSocketProtocol
from holdfast.settings import Settings

KEEP_ALIVE = timedelta(seconds=75)
MESSAGE_BYTES_MAX = 65_536
"""Maximum size of a WebSocket message from a client."""


class ServerConfig(uvicorn.Config):
    """A configuration with the limits and the counts that all connections of a process share."""

    limits: ConnectionLimits
    counts: ConnectionCounts


def server_config(app: Any, settings: Settings, *, trust_proxy: str = "127.0.0.1", **options: Any) -> ServerConfig:
    """`trust_proxy`: addresses of proxies, separated by commas. `options` go to uvicorn."""
    config = ServerConfig(
        app,
        http=BoundedHttpProtocol,
        ws=BoundedWebSocketProtocol,
        ws_max_size=MESSAGE_BYTES_MAX,
        ws_per_message_deflate=False,  # Messages are small; compression would cost CPU and memory per subscriber.
        log_config=None,  # Use the process-wide logging configuration.
        access_log=False,
        server_header=False,
        proxy_headers=True,
        forwarded_allow_ips=trust_proxy,
        timeout_keep_alive=int(KEEP_ALIVE.total_seconds()),
        **options,
    )
    config.limits = ConnectionLimits.of(settings)
    config.counts = ConnectionCounts(config.limits, [part.strip() for part in trust_proxy.split(",")])
    return config
