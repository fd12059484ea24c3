"""Routes side by side on the application itself.

`include_router` of newer FastAPI keeps routers nested and looks through all of them twice for each request; flat routes are
found once. So each route is added anew, under its whole path.
"""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from holdfast.server.documented import Responses


def add_routes(api: FastAPI, router: APIRouter, prefix: str = "", responses: Responses | None = None) -> None:
    """The routes of a router, which has no routers of its own in it."""
    for route in router.routes:
        assert isinstance(route, APIRoute)
        api.add_api_route(
            prefix + route.path,
            route.endpoint,
            response_model=route.response_model,
            status_code=route.status_code,
            tags=route.tags,
            dependencies=route.dependencies,
            summary=route.summary,
            description=route.description,
            response_description=route.response_description,
            responses={**(responses or {}), **route.responses},
            methods=sorted(route.methods or ()),
            operation_id=route.name,
            include_in_schema=route.include_in_schema,
            response_class=route.response_class,
            name=route.name,
            openapi_extra=route.openapi_extra,
        )
