"""Flat routes on the application itself.

`include_router` of newer FastAPI versions keeps routers nested and searches all of them twice per request; flat routes are
searched once. So a module of routes only records them (`Routes`, with the decorators of an `APIRouter`), and each route is
built once per process, under its full path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from fastapi import APIRouter

from holdfast.server.documented_answers import Responses
from holdfast.server.encoded_paths import restore_slashes

F = TypeVar("F", bound=Callable[..., Any])


class RouteSpec(NamedTuple):
    path: str
    endpoint: Callable[..., Any]
    options: dict[str, Any]


class Routes:
    def __init__(
        self,
        prefix: str = "",
        *,
        tags: Sequence[str] = (),
        dependencies: Sequence[Any] = (),
        responses: Responses | None = None,
    ) -> None:
        self._prefix = prefix
        self._tags = list(tags)
        self._dependencies = list(dependencies)
        self._responses = dict(responses or {})
        self.specs: list[RouteSpec] = []

    def _add(self, method: str, path: str, options: dict[str, Any]) -> Callable[[F], F]:
        def decorate(endpoint: F) -> F:
            merged = {
                **options,
                "methods": [method],
                "tags": self._tags,
                "dependencies": [*self._dependencies, *options.get("dependencies", ())],
                "responses": {**self._responses, **options.get("responses", {})},
            }
            self.specs.append(RouteSpec(self._prefix + path, endpoint, merged))
            return endpoint

        return decorate

    def get(self, path: str, **options: Any) -> Callable[[F], F]:
        return self._add("GET", path, options)

    def probe(self, path: str, **options: Any) -> Callable[[F], F]:
        """`GET`, plus `HEAD` for load balancers, which the OpenAPI document omits; the server drops the body."""

        def decorate(endpoint: F) -> F:
            self._add("HEAD", path, {**options, "include_in_schema": False})(endpoint)
            return self._add("GET", path, options)(endpoint)

        return decorate

    def post(self, path: str, **options: Any) -> Callable[[F], F]:
        return self._add("POST", path, options)

    def put(self, path: str, **options: Any) -> Callable[[F], F]:
        return self._add("PUT", path, options)

    def patch(self, path: str, **options: Any) -> Callable[[F], F]:
        return self._add("PATCH", path, options)

    def delete(self, path: str, **options: Any) -> Callable[[F], F]:
        return self._add("DELETE", path, options)


def add_routes(to: APIRouter, routes: Routes, prefix: str = "", responses: Responses | None = None) -> None:
    for path, endpoint, options in routes.specs:
        to.add_api_route(
            prefix + path,
            endpoint,
            **{
                **options,
                "responses": {**(responses or {}), **options["responses"]},
                "operation_id": endpoint.__name__,
                "name": endpoint.__name__,
            },
        )
        restore_slashes(to.routes[-1])
