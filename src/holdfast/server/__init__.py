"""REST API under `/api`, live updates, HTTP workflows, Studio and health. It depends on the engine; nothing depends on it.

`create_app(engine)` returns an ASGI application to serve or mount; `holdfast serve` serves one.
"""

from __future__ import annotations

from holdfast.server.app import create_app

__all__ = ["create_app"]
