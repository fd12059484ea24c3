"""The hot doors: starting, dispatching, resuming and publishing events without the framework's detours.

FastAPI finds a route, solves dependencies and checks the answer in about a millisecond; these four routes are called
thousands of times a second. A door takes the plain case: JSON that fits, or no body. Everything else it hands on, body and all,
to the route of the same address, which is also what the OpenAPI document describes. A test asks both and compares.
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
from holdfast.server.operator_service import Operating
from holdfast.server.path_decoding import unmarked
from holdfast.server.problems import respond
from holdfast.server.routes.executions import INSTANCE_HEADER
from holdfast.server.routes.stimuli import sent, stimulus_of
from holdfast.server.schemas.definitions import DispatchRequest, StartRequest
from holdfast.server.schemas.instances import ResumeRequest
from holdfast.server.schemas.operations import EventRequest
from holdfast.server.security import Security, admitted, facts_of
from holdfast.server.start_requests import Asking, Starter

KEY_LENGTH_MAX = 200


class Knock(NamedTuple):
    """Who is at a door, and with what."""

    server: Backend
    name: str
    who: Principal
    body: Any
    headers: Mapping[str, str]

    @property
    def key(self) -> str | None:
        return self.headers.get("idempotency-key")

    @property
    def asking(self) -> Asking:
        headers = self.headers
        return Asking(self.who, self.key, headers.get("x-correlation-id"), headers.get("traceparent"))


Answer = tuple[int, BaseModel, dict[str, str]]


async def _execute(knock: Knock) -> Answer:
    result, settled = await Starter(knock.server, knock.asking).execute(knock.name, knock.body)
    headers = {INSTANCE_HEADER: result.instance_id}
    if not settled:
        headers["Location"] = f"{knock.server.base_path}/api/instances/{result.instance_id}"
    return 200 if settled else 202, result, headers


async def _dispatch(knock: Knock) -> Answer:
    result = await Starter(knock.server, knock.asking).dispatch(knock.name, knock.body)
    headers = {}
    if result.instance_ids:
        name = result.instance_ids[0]
        headers = {INSTANCE_HEADER: name, "Location": f"{knock.server.base_path}/api/instances/{name}"}
    return 202, result, headers


async def _resume(knock: Knock) -> Answer:
    wanted: ResumeRequest = knock.body
    operating = Operating(knock.server, knock.who.name)
    return 200, await operating.resume(knock.name, wanted.bookmark_id, wanted.payload, knock.key), {}


async def _event(knock: Knock) -> Answer:
    stimulus = stimulus_of(knock.body, EVENT, knock.who, knock.headers, knock.key, knock.name)
    return 202, await sent(knock.server, stimulus), {}


class Door(NamedTuple):
    before: str
    after: str
    permission: str
    model: type[BaseModel]
    open: Callable[[Knock], Awaitable[Answer]]


DOORS = (
    Door("/api/definitions/", "/execute", "definitions:execute", StartRequest, _execute),
    Door("/api/definitions/", "/dispatch", "definitions:execute", DispatchRequest, _dispatch),
    Door("/api/instances/", "/resume", "instances:write", ResumeRequest, _resume),
    Door("/api/events/", "", "events:send", EventRequest, _event),
)


class Doors:
    """Stands before the application."""

    def __init__(self, app: ASGIApp, api: FastAPI, server: Backend) -> None:
        self._app = app
        self._api = api
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _find(scope) if scope["type"] == "http" and scope["method"] == "POST" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        door, name = found
        facts = facts_of(scope)
        try:
            raw = await _body(receive)
        except HTTPException:  # Too large: the route reads as far, and says so.
            await self._app(scope, receive, send)
            return
        knocked = None if raw is None else _read(door, facts.headers, raw)
        if knocked is None:
            await self._app(scope, _again(raw, receive), send)
            return
        try:
            security: Security = self._api.state.security
            who = admitted(await security.principal(facts), door.permission)
            status, answer, headers = await door.open(Knock(self._server, name, who, knocked, facts.headers))
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
    """The path below whatever this application is mounted at."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def _find(scope: Scope) -> tuple[Door, str] | None:
    path = local_path(scope)
    for door in DOORS:
        if path.startswith(door.before) and path.endswith(door.after):
            name = path[len(door.before) : len(path) - len(door.after)]
            if name and "/" not in name:
                return door, unmarked(name)
    return None


def _read(door: Door, headers: Mapping[str, str], raw: bytes) -> BaseModel | None:
    """The body, if it is plain; None hands the request on."""
    key = headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= KEY_LENGTH_MAX:
        return None
    if not raw:
        return door.model()
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json" or raw[:1] != b"{":
        return None
    try:
        return door.model.model_validate_json(raw)
    except ValidationError:
        return None


async def _body(receive: Receive) -> bytes | None:
    """None: the other side is gone."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


def _again(raw: bytes | None, receive: Receive) -> Receive:
    """What was read is there to be read again."""
    waiting: list[Message] = (
        [{"type": "http.disconnect"}] if raw is None else [{"type": "http.request", "body": raw, "more_body": False}]
    )

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
