"""The ASGI application below `/workflows`: HTTP requests that start or resume workflows.

A disconnect cancels nothing: the instance runs in tasks of the node, and the request only waits for it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

from fastapi import FastAPI
from msgspec import Struct
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from holdfast.errors import BookmarkNotFound, HoldfastError, KeyReused, NotSignedIn, PermissionDenied
from holdfast.model.guard import Guard, GuardRow
from holdfast.model.ids import checked_id
from holdfast.model.principal import Principal
from holdfast.model.routes import METHODS, SEGMENTS_MAX
from holdfast.ports import EndpointPolicies, HttpSelectors, RequestFacts
from holdfast.runtime.result import RunResult
from holdfast.server.backend import Backend
from holdfast.server.http_workflows.endpoint_match import Address, Match, Matcher
from holdfast.server.http_workflows.keys import checked_key, fingerprint_of, guard_of, guard_ref, reply_id, scoped_key
from holdfast.server.http_workflows.reply import Replies, Waiting
from holdfast.server.http_workflows.request_body import Body, BodyLimits, read_body
from holdfast.server.http_workflows.request_headers import received
from holdfast.server.problems import Refusal, respond
from holdfast.server.security import Security, facts_of

PATH = "/workflows"
ATTEMPTS_MAX = 3
RETRY_AFTER = timedelta(seconds=5)


class AdmittedRequest(Struct, frozen=True, kw_only=True):
    """An authorized request with its parsed payload."""

    request_id: str
    match: Match
    body: Body
    address: Address
    payload: Mapping[str, Any]
    principal: Principal | None = None
    guard: Guard | None = None
    """Guard of the idempotency key."""


class Accepted(Struct, frozen=True, kw_only=True):
    """The outcome of a start or a resume."""

    instance_id: str
    result: RunResult | None = None
    existing: str | None = None
    """The instance that already holds the idempotency key, the activation slot or the id; nothing was started."""


class Repeated(Struct, frozen=True, kw_only=True):
    """An earlier request with the same key, found by the name of its guard."""

    key: str
    request_id: str
    row: GuardRow


class EndpointApp:
    """Serves the HTTP endpoints of published workflows."""

    def __init__(self, api: FastAPI, backend: Backend) -> None:
        self._api = api
        self._backend = backend

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            response = await self.answer(request)
        except Exception as error:  # noqa: BLE001 - every error has its answer in one table
            response = respond(error, scope["path"])
        if request.method == "HEAD":
            response.body = b""
        await response(scope, receive, send)

    async def answer(self, request: Request) -> Response:
        runtime = self._backend.runtime
        if runtime.intake.paused:
            seconds = str(round(RETRY_AFTER.total_seconds()))
            raise Refusal(
                503,
                "node.paused",
                "This node is paused and takes no new work. Retry later, or resume the node.",
                headers={"Retry-After": seconds},
            )
        facts, parts = facts_of(request.scope), parts_of(request.scope)
        if len(parts) > SEGMENTS_MAX or request.method not in METHODS:
            raise Refusal(404, "route.not_found", "No workflow waits at this address.")
        address = self._address(facts)
        matcher = Matcher(runtime)
        try:
            match = await matcher.find(parts, request.method, address)
        except (HoldfastError, Refusal):
            repeated = await self._repeated(request, facts, address)
            if repeated is None:
                raise
            body = await read_body(request, {}, BodyLimits.of(self._backend.engine.settings))
            return await self._replayed(request, repeated, body)
        principal = await self._authorize(match, facts)
        repeated = await self._repeated(request, facts, address, (principal, match.endpoint))
        admitted = await self._read(request, match, address, principal)
        if repeated is not None:
            return await self._replayed(request, repeated, admitted.body)
        for _ in range(ATTEMPTS_MAX):
            try:
                return await self._accept(request, admitted)
            except BookmarkNotFound:  # Another request resumed the bookmark first: match again.
                match = await matcher.find(parts, request.method, address)
                await self._authorize(match, facts)
                admitted = replace(admitted, match=match, payload={**admitted.payload, "route": dict(match.values)})
        raise Refusal(409, "instance.conflict", "Concurrent requests won the race several times in a row. Try again.")

    # -- authorization and payload -------------------------------------------------------------------------------------

    def _address(self, facts: RequestFacts) -> Address:
        selectors = self._backend.runtime.services.get(HttpSelectors)
        instance = selectors.instance(facts)
        return Address(
            instance_id=None if instance is None else checked_id(instance, "instance id"),
            correlation_id=selectors.correlation(facts),
        )

    async def _authorize(self, match: Match, facts: RequestFacts) -> Principal | None:
        """Raises `NotSignedIn` or `PermissionDenied`. An open endpoint has no principal."""
        endpoint = match.endpoint
        policy = endpoint.get("policy")
        if not endpoint.get("authorize") and not policy:
            return None
        security: Security = self._api.state.security
        principal = await security.principal(facts)
        if principal is None and endpoint.get("authorize"):
            raise NotSignedIn("This endpoint requires sign-in: send 'Authorization: Bearer …' or 'X-Api-Key: …'.")
        if policy:
            rule = self._backend.runtime.services.get(EndpointPolicies).by_name.get(policy)
            if rule is None or not await rule(principal, facts):
                raise PermissionDenied(f"policy {policy}", "anonymous" if principal is None else principal.name)
        return principal

    async def _read(
        self, request: Request, match: Match, address: Address, principal: Principal | None
    ) -> AdmittedRequest:
        body = await read_body(request, match.endpoint, BodyLimits.of(self._backend.engine.settings))
        key = checked_key(request)
        if key is not None:
            key = scoped_key(key, principal, match.endpoint)
        request_id = secrets.token_hex(12) if key is None else reply_id(request, address, key)
        payload = {
            "request_id": request_id,
            "method": request.method,
            "path": request.scope["path"],
            "query": _query(request),
            "headers": received(request.headers.items(), match.endpoint),
            "route": dict(match.values),
            "content": body.content,
            "content_type": body.content_type,
            "client": request.client.host if request.client else None,
        }
        if body.files:
            payload["files"] = list(body.files)
        if body.outcome:
            payload["outcome"] = body.outcome
        if key is not None:
            payload["keep_reply"] = True
        if principal is not None:
            payload["user"] = {"id": principal.id, "name": principal.name, "roles": sorted(principal.roles)}
        return AdmittedRequest(
            request_id=request_id,
            match=match,
            body=body,
            address=address,
            payload=payload,
            principal=principal,
            guard=None if key is None else guard_of(request, address, key, body),
        )

    # -- start and resume ----------------------------------------------------------------------------------------------

    async def _accept(self, request: Request, admitted: AdmittedRequest) -> Response:
        taken = await (self._start(admitted) if admitted.match.trigger is not None else self._resume(admitted))
        if taken.existing is not None:
            if admitted.guard is None:
                raise Refusal(
                    409,
                    "instance.place_taken",
                    f"Instance {taken.existing} already exists: this workflow allows one at a time, or the id is in use.",
                    headers={"X-Workflow-Instance-Id": taken.existing},
                )
            taken = Accepted(instance_id=taken.existing)
        settings = self._backend.engine.settings
        waiting = Waiting(
            request_id=admitted.request_id,
            instance_id=taken.instance_id,
            result=taken.result,
            limit=admitted.match.endpoint.get("request_timeout") or settings.http_wait,
            keep=admitted.guard is not None,
        )
        return await self._replies().response(request, waiting)

    async def _start(self, admitted: AdmittedRequest) -> Accepted:
        runtime, trigger = self._backend.runtime, admitted.match.trigger
        assert trigger is not None
        instance_id = admitted.address.instance_id or runtime.new_id()
        answer = await runtime.http_start(
            trigger,
            instance_id,
            admitted.payload,
            admitted.guard,
            correlation_id=admitted.address.correlation_id,
            principal=None if admitted.principal is None else admitted.principal.id,
            trace=admitted.payload["headers"].get("traceparent"),
        )
        return Accepted(instance_id=instance_id, result=answer.result, existing=answer.existing)

    async def _resume(self, admitted: AdmittedRequest) -> Accepted:
        match = admitted.match
        assert match.instance_id is not None
        assert match.bookmark_id is not None
        answer = await self._backend.runtime.http_resume(
            match.instance_id, match.bookmark_id, admitted.payload, admitted.guard
        )
        return Accepted(instance_id=match.instance_id, result=answer.result, existing=answer.existing)

    # -- repetitions ---------------------------------------------------------------------------------------------------

    async def _repeated(
        self,
        request: Request,
        facts: RequestFacts,
        address: Address,
        matched: tuple[Principal | None, Mapping[str, Any]] | None = None,
    ) -> Repeated | None:
        """The earlier request with this key (rule M4). Its bookmark may no longer exist, so its endpoint may differ from the one
        that matches now. Only scopes that admit the caller now are searched. The start or resume itself checks the scope of the
        matched endpoint."""
        key = checked_key(request)
        if key is None:
            return None
        runtime = self._backend.runtime
        scopes = [scoped_key(key, *scope) for scope in await self._scopes(facts)]
        known = None if matched is None else scoped_key(key, *matched)
        for scoped in scopes:
            if scoped == known:
                continue
            row = await runtime.store.find_guard(runtime.tenant, guard_ref(request, address, scoped))
            if row is not None:
                return Repeated(key=key, request_id=reply_id(request, address, scoped), row=row)
        return None

    async def _scopes(self, facts: RequestFacts) -> list[tuple[Principal | None, Mapping[str, Any]]]:
        """Access rules that admit the caller."""
        security: Security = self._api.state.security
        try:
            principal = await security.principal(facts)
        except NotSignedIn:
            principal = None
        open_to_all: tuple[None, Mapping[str, Any]] = (None, {})
        found: list[tuple[Principal | None, Mapping[str, Any]]] = [open_to_all]
        if principal is not None:
            found.append((principal, {"authorize": True}))
        for name, rule in self._backend.runtime.services.get(EndpointPolicies).by_name.items():
            if await rule(principal, facts):
                found.append((principal, {"policy": name}))
                if principal is not None:
                    found.append((principal, {"policy": name, "authorize": True}))
        return found

    async def _replayed(self, request: Request, repeated: Repeated, body: Body) -> Response:
        if repeated.row.fingerprint != fingerprint_of(request, body):
            raise KeyReused(repeated.key, repeated.row.instance_id)
        waiting = Waiting(
            request_id=repeated.request_id,
            instance_id=repeated.row.instance_id,
            result=None,
            limit=self._backend.engine.settings.http_wait,
            keep=True,
        )
        return await self._replies().response(request, waiting)

    def _replies(self) -> Replies:
        backend = self._backend
        return Replies(backend.runtime, backend.watch, f"{backend.base_path}/api/instances")


def mount(api: FastAPI, backend: Backend) -> None:
    """Mount the application below `/workflows`."""
    api.mount(PATH, EndpointApp(api, backend), name="workflows")


def parts_of(scope: Scope) -> list[str]:
    """The segments of the path below `/workflows`, each decoded separately: an encoded slash does not split a segment."""
    root = scope.get("root_path", "")
    raw = scope.get("raw_path")
    path = raw.decode("latin-1") if raw is not None else scope["path"]
    if path.startswith(root):
        path = path[len(root) :]
    else:  # A proxy stripped a prefix, or rewrote the path.
        path = scope["path"].removeprefix(root)
    return [unquote(part) for part in path.partition("?")[0].split("/") if part]


def _query(request: Request) -> dict[str, Any]:
    """A repeated parameter becomes a list."""
    found: dict[str, Any] = {}
    for name in dict.fromkeys(request.query_params.keys()):
        values: Sequence[str] = request.query_params.getlist(name)
        found[name] = values[0] if len(values) == 1 else list(values)
    return found
