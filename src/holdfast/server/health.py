"""`/health`, `/health/ready` and the OpenAPI document: open to everyone."""

from __future__ import annotations

from datetime import timedelta

from fastapi import Request, Response
from starlette.responses import JSONResponse

from holdfast import __version__
from holdfast.errors import HoldfastError
from holdfast.server.backend import Backend, Server
from holdfast.server.routing import Routes
from holdfast.server.schemas.operations import Health
from holdfast.server.security import public

router = Routes(tags=["health"], dependencies=[public()])
described = Routes(dependencies=[public()])

CLOCKS_APART = timedelta(seconds=5)


@router.probe("/health")
async def is_alive() -> Health:
    """The process answers."""
    return Health(status="ok", version=__version__)


@router.probe("/health/ready", responses={503: {"model": Health, "description": "Not ready, with the reasons"}})
async def is_ready(server: Server, response: Response) -> Health:
    """The process can do its work; if not, `reasons` say what is missing."""
    reasons = await why_not(server)
    if reasons:
        response.status_code = 503
    return Health(status="unavailable" if reasons else "ok", version=__version__, reasons=reasons)


async def why_not(server: Backend) -> list[str]:
    if not server.is_open:
        return ["The server has not started."]
    try:
        now = await server.store.now()
        nodes = await server.store.list_nodes()
    except HoldfastError as error:
        return [f"The store does not answer: {error}"]
    reasons = []
    mine = server.runtime.node.owner
    row = next((node for node in nodes if node.owner == mine), None)
    if row is None or not row.alive_at(now):
        reasons.append("This node is not registered, or its heartbeat is too old.")
    elif row.state != "live":
        reasons.append(f"This node is {row.state}: it takes no new work.")
    if abs(server.engine.clock.now() - now) > CLOCKS_APART:
        reasons.append("The clock of this machine and that of the database are more than 5 s apart.")
    return reasons


@described.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> JSONResponse:
    """The document of the application that was asked."""
    return JSONResponse(request.app.openapi())
