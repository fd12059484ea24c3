"""Routes that are recorded by decorators and added to an application under their whole path."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.routing import APIRoute

from holdfast.server.routing import Routes, add_routes

routes = Routes("/orders", tags=["orders"], responses={404: {"description": "none"}})


@routes.get("/{id}", responses={409: {"description": "conflict"}})
async def read_order(id: str) -> str:
    return id


@routes.probe("/health")
async def health() -> str:
    return "ok"


def test_routes_are_added_flat_with_prefix_tags_and_responses() -> None:
    router = APIRouter()
    add_routes(router, routes, "/api", {400: {"description": "malformed"}})
    read = next(route for route in router.routes if isinstance(route, APIRoute) and route.name == "read_order")

    assert read.path == "/api/orders/{id}"
    assert read.tags == ["orders"]
    assert read.operation_id == "read_order"
    assert set(read.responses) == {400, 404, 409}


def test_a_probe_answers_head_outside_of_the_document() -> None:
    router = APIRouter()
    add_routes(router, routes)
    probes = [route for route in router.routes if isinstance(route, APIRoute) and route.name == "health"]

    assert [(route.methods, route.include_in_schema) for route in probes] == [({"HEAD"}, False), ({"GET"}, True)]
