"""Error responses declared by the routes, for the OpenAPI document."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi.routing import APIRoute

from holdfast.server.problems import MEDIA_TYPE

Responses = dict[int | str, dict[str, Any]]

COMMON_STATUSES = (400, 401, 403, 413, 422, 429, 503)
"""Statuses that every route may answer: malformed, not signed in, forbidden, too large, invalid, rate limited, store down."""


def answers(*statuses: int, also: Responses | None = None) -> Responses:
    """Problem responses of a route, in addition to the common ones."""
    found: Responses = {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": _PROBLEM}}}
        for status in sorted({*COMMON_STATUSES, *statuses})
    }
    return {**found, **(also or {})}


_PROBLEM = {"$ref": "#/components/schemas/Problem"}


def operation_id(route: APIRoute) -> str:
    """The function's name, which becomes the method name in generated clients."""
    return route.name
