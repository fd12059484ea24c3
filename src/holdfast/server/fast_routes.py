"""Fast routes: start, dispatch, resume and publish events without the overhead of the framework.

FastAPI finds a route, resolves dependencies and validates the answer in about a millisecond; these four routes are called
thousands of times a second. A fast route serves the plain case: valid JSON, or no body. Every other request passes on, with its
body, to the FastAPI route of the same path, which the OpenAPI document describes. A test compares the answers of both.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from fastapi import FastAPI
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.model.principal import Principal
from holdfast.model.requests import EVENT
from holdfast.server.backend import Backend
from holdfast.server.encoded_paths import restore_slash
from holdfast.server.operator_service import OperatorService
from holdfast.server.problems import respond
from holdfast.server.routes.executions import INSTANCE_HEADER
from holdfast.server.routes.stimuli import sent, stimulus_of
from holdfast.server.schemas.definitions import DispatchRequest, StartRequest
from holdfast.server.schemas.instances import ResumeRequest
from holdfast.server.schemas.operations import EventRequest
from holdfast.server.security import Security, admitted, facts_of
from holdfast.server.start_requests import StartContext, Starter

KEY_LENGTH_MAX = 200


class FastRequest(NamedTuple):
    """An admitted request with its decoded body."""

    server: Backend
    name: str
    who: Principal
    body: Any
    headers: Mapping[str, str]

    @property
    def key(self) -> str | None:
        return self.headers.get("idempotency-key")

    @property
    def context(self) -> StartContext:
        headers = self.headers
        return StartContext(self.who, self.key, headers.get("x-correlation-id"), headers.get("traceparent"))


Answer = tuple[int, BaseModel, dict[str, str]]


async def _execute(request: FastRequest) -> Answer:
    result, settled = await Starter(request.server, request.context).execute(request.name, request.body)
    headers = {INSTANCE_HEADER: result.instance_id}
    if not settled:
        headers["Location"] = f"{request.server.base_path}/api/instances/{result.instance_id}"
    return 200 if settled else 202, result, headers


async def _dispatch(request: FastRequest) -> Answer:
    result = await Starter(request.server, request.context).dispatch(request.name, request.body)
    headers = {}
    if result.instance_ids:
        name = result.instance_ids[0]
        headers = {INSTANCE_HEADER: name, "Location": f"{request.server.base_path}/api/instances/{name}"}
    return 202, result, headers


async def _resume(request: FastRequest) -> Answer:
    wanted: ResumeRequest = request.body
    service = OperatorService.of(request.server, request.who)
    return 200, await service.resume(request.name, wanted.bookmark_id, wanted.payload, request.key), {}


async def _event(request: FastRequest) -> Answer:
    stimulus = stimulus_of(request.body, EVENT, request.who, request.headers, request.key, request.name)
    return 202, await sent(request.server, stimulus), {}


class FastRoute(NamedTuple):
    before: str
    after: str
    permission: str
    model: type[BaseModel]
    open: Callable[[FastRequest], Awaitable[Answer]]


FAST_ROUTES = (
    FastRoute("/api/definitions/", "/execute", "definitions:execute", StartRequest, _execute),
    FastRoute("/api/definitions/", "/dispatch", "definitions:execute", DispatchRequest, _dispatch),
    FastRoute("/api/instances/", "/resume", "instances:write", ResumeRequest, _resume),
    FastRoute("/api/events/", "", "events:send", EventRequest, _event),
)


class FastRoutes:
    """ASGI middleware that serves the fast routes and passes other requests on."""

    def __init__(self, app: ASGIApp, api: FastAPI, server: Backend) -> None:
        self._app = app
        self._api = api
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _find(scope) if scope["type"] == "http" and scope["method"] == "POST" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        route, name = found
        facts = facts_of(scope)
        try:  # Before the body is read.
            security: Security = self._api.state.security
            who = admitted(await security.principal(facts), route.permission)
        except Exception as error:  # noqa: BLE001 - every error has its answer in one table
            await respond(error, scope["path"])(scope, receive, send)
            return
        scope.setdefault("state", {})["principal"] = who  # For the FastAPI route, if the request passes on.
        try:
            raw = await _body(receive)
        except HTTPException:  # Too large: the FastAPI route answers with the error.
            await self._app(scope, receive, send)
            return
        body = None if raw is None else _read(route, facts.headers, raw)
        if body is None:
            await self._app(scope, _again(raw, receive), send)
            return
        try:
            status, answer, headers = await route.open(FastRequest(self._server, name, who, body, facts.headers))
        except Exception as error:  # noqa: BLE001 - every error has its answer in one table
            await respond(error, scope["path"])(scope, receive, send)
        else:
            await _answer(send, status, answer, headers)


async def _answer(send: Send, status: int, answer: BaseModel, headers: Mapping[str, str]) -> None:
    body = answer.model_dump_json(by_alias=True).encode()
    found = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    found += [(b"content-length", str(len(body)).encode()), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": found})
    await send({"type": "http.response.body", "body": body})


def local_path(scope: Scope) -> str:
    """The path below the mount point of this application."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def _find(scope: Scope) -> tuple[FastRoute, str] | None:
    path = local_path(scope)
    for route in FAST_ROUTES:
        if path.startswith(route.before) and path.endswith(route.after):
            name = path[len(route.before) : len(path) - len(route.after)]
            if name and "/" not in name:
                return route, restore_slash(name)
    return None


def _read(route: FastRoute, headers: Mapping[str, str], raw: bytes) -> BaseModel | None:
    """The body; None if the request passes on."""
    key = headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= KEY_LENGTH_MAX:
        return None
    if not raw:
        return route.model()
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json" or raw[:1] != b"{":
        return None
    try:
        return route.model.model_validate_json(raw)
    except ValidationError:
        return None


async def _body(receive: Receive) -> bytes | None:
    """The body of the request; None after a disconnect."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


def _again(raw: bytes | None, receive: Receive) -> Receive:
    """A `receive` that returns the body once more."""
    waiting: list[Message] = (
        [{"type": "http.disconnect"}] if raw is None else [{"type": "http.request", "body": raw, "more_body": False}]
    )

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
