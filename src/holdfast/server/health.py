"""`/health`, `/health/ready` and the OpenAPI document: open to everyone."""

from __future__ import annotations

from fastapi import Request, Response
from starlette.responses import JSONResponse

from holdfast import __version__
from holdfast.management.health import missing_code_warnings, why_unready
from holdfast.server.backend import Server
from holdfast.server.routing import Routes
from holdfast.server.schemas.operations import Health
from holdfast.server.security import public

router = Routes(tags=["health"], dependencies=[public()])
described = Routes(dependencies=[public()])


@router.probe("/health")
async def is_alive() -> Health:
    """The process is alive."""
    return Health(status="ok", version=__version__)


@router.probe("/health/ready", responses={503: {"model": Health, "description": "Not ready, with the reasons"}})
async def is_ready(server: Server, response: Response) -> Health:
    """The process can serve requests; otherwise `reasons` lists the failed checks. `warnings` lists code that no worker has."""
    if not server.is_open:
        response.status_code = 503
        return Health(status="unavailable", version=__version__, reasons=["The server has not started."])
    reasons = await why_unready([server.runtime])
    warnings = [] if reasons else await missing_code_warnings([server.runtime])
    if reasons:
        response.status_code = 503
    return Health(status="unavailable" if reasons else "ok", version=__version__, reasons=reasons, warnings=warnings)


@described.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> JSONResponse:
    """The OpenAPI document of the application that received the request."""
    return JSONResponse(request.app.openapi())
