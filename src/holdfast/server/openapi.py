"""The OpenAPI document: made of the routes, with the problem schema that all of them refer to."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from holdfast.server.schemas.base import Problem

SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "api_key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
}

DESCRIPTION = """Everything that the engine can do, from outside.

Lists take `limit`, `cursor` and `sort` (a column, with `-` in front: descending). Errors are `application/problem+json`.
A request with an `Idempotency-Key` is done once, however often it is sent."""


def describe(app: FastAPI) -> dict[str, Any]:
    """The document of this application; made once."""
    if app.openapi_schema is None:
        document = get_openapi(
            title="Holdfast", version=app.version, description=DESCRIPTION, routes=app.routes, openapi_version="3.1.0"
        )
        components = document.setdefault("components", {})
        schemas = components.setdefault("schemas", {})
        made = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        for name, schema in made.pop("$defs", {}).items():
            schemas.setdefault(name, schema)
        schemas["Problem"] = made
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        components["schemas"] = dict(sorted(schemas.items()))
        components["securitySchemes"] = SECURITY
        document["security"] = [{name: []} for name in SECURITY]
        app.openapi_schema = document
    return app.openapi_schema
