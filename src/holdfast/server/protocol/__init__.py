"""The HTTP server below the application: connections under limits that hold without a proxy."""

from __future__ import annotations

from holdfast.server.protocol.config import ServerConfig, server_config

__all__ = ["ServerConfig", "server_config"]
