"""Routes that admit the caller before they read the body, and requests that read it within the limits.

FastAPI reads and parses the body of a request before it resolves dependencies, and so before it checks a permission.
`AdmittedRoute` checks the permissions of the route first. Only routes that are open to everyone read the body of an unknown
caller, up to a lower limit.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.routing import APIRoute
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive

from holdfast.server.json_body import JsonLimits, JsonRefused, read_json
from holdfast.server.problems import BodyRefused
from holdfast.server.security import PUBLIC, admit, permissions_of
from holdfast.settings import Settings

PART_BYTES_MAX = 1_000_000
"""Maximum size of a form field; files are limited by the body."""

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class AdmittedRoute(APIRoute):
    """A route that checks its permissions before it reads the body."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        permissions = permissions_of(self)
        needed = sorted(permissions - {PUBLIC})

        async def admit_first(request: Request) -> Response:
            settings: Settings = request.app.state.backend.engine.settings
            for permission in needed:
                await admit(request, permission)
            receive = request.receive if needed else bounded(request.receive, settings.anonymous_request_bytes_max)
            return await handle(BoundedRequest(request.scope, receive, settings))

        return handle if self.body_field is None and needed else admit_first


class BoundedRequest(Request):
    """A request whose JSON and forms are read within the limits of the settings."""

    def __init__(self, scope: Any, receive: Receive, settings: Settings) -> None:
        super().__init__(scope, receive)
        self._settings = settings

    async def json(self) -> Any:
        limits = JsonLimits(depth=self._settings.json_depth_max, values=self._settings.json_values_max)
        try:
            return read_json(await self.body(), limits)
        except JsonRefused as error:
            raise BodyRefused(error.status, error.code, str(error)) from error
        except UnicodeDecodeError as error:
            raise BodyRefused(400, "request.malformed", "The body is not JSON: it is not encoded in UTF-8.") from error

    async def _get_form(self, **limits: Any) -> FormData:
        parts = self._settings.form_parts_max
        return await super()._get_form(max_files=parts, max_fields=parts, max_part_size=PART_BYTES_MAX)


def bounded(receive: Receive, limit: int, setting: str = "anonymous_request_bytes_max") -> Receive:
    """A `receive` that refuses a body beyond the limit while it is read."""
    seen = 0

    async def receiving() -> Message:
        nonlocal seen
        message = await receive() if seen <= limit else {}
        seen += len(message.get("body", b""))
        if seen > limit:
            raise body_too_large(limit, setting)
        return message

    return receiving


def body_too_large(limit: int, setting: str) -> BodyRefused:
    return BodyRefused(
        413, "body.too_large", f"The body is larger than {limit} bytes. Send less, or raise the setting {setting}."
    )
