"""ASGI middleware around all routes: open on first request, base path, body limit, security headers. Plain ASGI, for speed."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.errors import NotSignedIn, UnstorableText
from holdfast.model.charsets import charset_of
from holdfast.server.admission import body_too_large, bounded
from holdfast.server.backend import Backend
from holdfast.server.encoded_paths import mark_slashes
from holdfast.server.fast_routes import FastRoutes, local_path
from holdfast.server.http_workflows import PATH as WORKFLOWS
from holdfast.server.problems import problem, respond
from holdfast.server.security import check_local, facts_of

EXPOSED = ("ETag", "Location", "X-Workflow-Instance-Id", "X-Correlation-Id", "Retry-After")

POLICY = (
    b"content-security-policy",
    (
        b"default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; font-src 'self' data:; "
        b"connect-src 'self' ws: wss:; worker-src 'self' blob:; object-src 'none'; base-uri 'self'; frame-ancestors 'none'; "
        b"form-action 'self'"
    ),
)
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
"""Encoded for ASGI: names in lower case."""
SETTING = "request_bytes_max"
"""Setting of the limit of bodies of `/api`."""


def wrapped(api: FastAPI, backend: Backend) -> Entrance:
    settings = backend.engine.settings
    app: ASGIApp = BodyLimit(FastRoutes(api, api, backend), settings.request_bytes_max)
    app = SecurityHeaders(app)
    origins = [origin.strip() for origin in settings.cors_origins.split(",") if origin.strip()]
    if origins:
        app = CORSMiddleware(
            app, allow_origins=origins, allow_methods=["*"], allow_headers=["*"], expose_headers=EXPOSED
        )
    return Entrance(app, api, backend)


class Entrance:
    """Opens the server on the first request if no lifespan did, and strips the base path."""

    def __init__(self, app: ASGIApp, api: FastAPI, backend: Backend) -> None:
        self._app = app
        self._api = api
        self.backend = backend
        self.state = api.state

    async def open(self) -> None:
        """For hosts that send no lifespan events; the first request opens the server as well."""
        self.state.security = await self.backend.open()

    async def close(self) -> None:
        await self.backend.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._api(scope, receive, send)
            return
        if not self.backend.is_open:
            await self.open()
        base = self.backend.base_path
        path, root = scope["path"], scope.get("root_path", "")
        if base and not root.endswith(base):
            if not (path == base or path.startswith(f"{base}/")):
                if scope["type"] == "http":
                    await problem(404, "route.not_found", f"This server answers below {base}.", path=path)(
                        scope, receive, send
                    )
                return
            # ASGI root path: the path stays whole, and root_path names its mounted part.
            scope = {**scope, "root_path": root + base}
        if scope["type"] == "http" and (refusal := self._refusal(scope)) is not None:
            await refusal(scope, receive, send)
            return
        await self._app(scope if _is_for_workflows(scope) else mark_slashes(scope), receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        """The response to a request whose address or headers are refused."""
        path = scope["path"]
        if not self.backend.auth and _is_for_workflows(scope):  # Routes of the API check it with their permission.
            try:
                check_local(facts_of(scope))
            except NotSignedIn as error:
                return respond(error, path)
        for name, value in scope["headers"]:
            if name == b"x-tenant-id" and (other := value.decode("latin-1")) != self.backend.tenant:
                message = (
                    f"This server does not serve the tenant '{other}'. Omit X-Tenant-Id, or call that tenant's server."
                )
                return problem(403, "tenant.other", message, path=path)
            if name == b"content-type":
                try:
                    charset_of(value.decode("latin-1"))
                except ValueError as error:
                    return problem(415, "body.charset", f"{error} Send UTF-8.", path=path)
        if not _is_for_workflows(scope) and _holds_nul(scope):
            return respond(UnstorableText("\0", "address"), path.replace("\0", "%00"))
        return None


def _is_for_workflows(scope: Scope) -> bool:
    """HTTP workflows have their own limits and accept every character."""
    return local_path(scope).startswith(f"{WORKFLOWS}/")


def _holds_nul(scope: Scope) -> bool:
    return "\0" in scope["path"] or b"%00" in scope["query_string"]


class SecurityHeaders:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _completed(message["headers"])
            await send(message)

        await self._app(scope, receive, sending)


def _completed(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Headers set by a workflow's own response win."""
    found = list(headers)
    names = {name.lower(): value for name, value in found}
    found += [pair for pair in HEADERS if pair[0] not in names]
    if names.get(b"content-type", b"").startswith(b"text/html"):
        found += [] if POLICY[0] in names else [POLICY]
    elif b"cache-control" not in names:
        found.append((b"cache-control", b"no-store"))
    return found


class BodyLimit:
    """Refuses bodies that are too large, by their header or while they are read. HTTP workflows have their own limit."""

    def __init__(self, app: ASGIApp, limit_bytes: int) -> None:
        self._app = app
        self._limit = limit_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_for_workflows(scope):
            await self._app(scope, receive, send)
            return
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
        if length.isdigit() and int(length) > self._limit:
            refused = body_too_large(self._limit, SETTING)
            await problem(413, refused.code, refused.detail, path=scope["path"])(scope, receive, send)
            return
        await self._app(scope, bounded(receive, self._limit, SETTING), send)
