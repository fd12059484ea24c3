"""The server: REST under `/api`, live updates, HTTP workflows, Studio, health. It knows the engine, and nothing knows it.

`create_app(engine)` gives an ASGI application to serve or to mount; `holdfast serve` serves one.
"""

from __future__ import annotations

from holdfast.server.app import create_app

__all__ = ["create_app"]
