"""`/metrics` for Prometheus."""

from __future__ import annotations

from fastapi import Request, Response

from holdfast.server.backend import Server
from holdfast.server.routing import Routes
from holdfast.server.security import requires

router = Routes(tags=["health"])


@router.get("/metrics", dependencies=[requires("operations:read", without_store=True)], include_in_schema=False)
async def metrics(request: Request, server: Server) -> Response:
    """Metrics in the format that the scraper accepts."""
    body, kind = await server.metrics.render(request.headers.get("accept", ""))
    return Response(body, headers={"content-type": kind})
