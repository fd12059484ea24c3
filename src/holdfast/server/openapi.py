"""The OpenAPI document, generated from the routes, with one shared problem schema."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from holdfast.server.problems import MEDIA_TYPE
from holdfast.server.schemas.base import Problem

SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "api_key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
}

DESCRIPTION = """HTTP API of the Holdfast workflow engine.

Lists accept `limit`, `cursor` and `sort` (a column; a leading `-` sorts in descending order). Errors are
`application/problem+json`. A request with an `Idempotency-Key` takes effect once, however often it is sent."""


def describe(app: FastAPI) -> dict[str, Any]:
    """The document of this application; generated once."""
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
        components["responses"] = _shared_responses(document)
        components["securitySchemes"] = SECURITY
        document["security"] = [{name: []} for name in SECURITY]
        app.openapi_schema = document
    return app.openapi_schema


def _shared_responses(document: dict[str, Any]) -> dict[str, Any]:
    """Moves each problem response into the components, so that routes only refer to it."""
    shared: dict[str, Any] = {}
    for operations in document["paths"].values():
        for operation in operations.values():
            if isinstance(operation, dict):
                for status, response in operation.get("responses", {}).items():
                    if MEDIA_TYPE in response.get("content", {}):
                        name = f"Problem{status}"
                        shared[name] = response
                        operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
    return dict(sorted(shared.items()))
