"""What a route may answer, for the OpenAPI document: problems are declared, not discovered."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi.routing import APIRoute

from holdfast.server.problems import MEDIA_TYPE

Responses = dict[int | str, dict[str, Any]]

COMMON_STATUSES = (400, 401, 403, 413, 422, 429, 503)
"""What every route may say: malformed, who are you, you may not, too large, invalid, too many, the store is away."""


def answers(*statuses: int, also: Responses | None = None) -> Responses:
    """Problems that a route may answer with, beyond those that all may."""
    found: Responses = {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": _PROBLEM}}}
        for status in sorted({*COMMON_STATUSES, *statuses})
    }
    return {**found, **(also or {})}


_PROBLEM = {"$ref": "#/components/schemas/Problem"}


def operation_id(route: APIRoute) -> str:
    """The function's name: what generated clients call it."""
    return route.name
