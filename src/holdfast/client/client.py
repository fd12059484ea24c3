"""Client of a server: credentials and the resources of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from holdfast.client import types as t
from holdfast.client.calls import Calls, path_of
from holdfast.client.resources import (
    DeadLetterCalls,
    DefinitionCalls,
    InstanceCalls,
    ScheduleCalls,
    StimulusCalls,
    TaskCalls,
)
from holdfast.client.wire import HttpWire, Wire


class Client:
    """Asynchronous client. Bound to the event loop that enters it."""

    def __init__(
        self,
        server: str | Wire,
        *,
        api_key: str | None = None,
        token: str | None = None,
        tenant: str | None = None,
    ) -> None:
        headers = {}
        if api_key is not None:
            headers["x-api-key"] = api_key
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        if tenant is not None:
            headers["x-tenant-id"] = tenant
        self._wire: Wire = HttpWire(server) if isinstance(server, str) else server
        self._calls = Calls(self._wire, headers)
        self.definitions = DefinitionCalls(self._calls)
        self.instances = InstanceCalls(self._calls)
        self.tasks = TaskCalls(self._calls)
        self.schedules = ScheduleCalls(self._calls)
        self.stimuli = StimulusCalls(self._calls)
        self.dead_letters = DeadLetterCalls(self._calls)

    async def __aenter__(self) -> Self:
        await self._wire.open()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._wire.close()

    async def sign_in(self, user: str, password: str) -> None:
        """Authenticate later requests as this user."""
        body = {"user": user, "password": password}
        answer: dict[str, Any] = await self._calls.post(dict[str, Any], "/auth/login", body)
        self._calls.headers["authorization"] = f"Bearer {answer['access_token']}"

    async def call(
        self, method: str, path: str, body: Any = None, *, query: Mapping[str, Any] | None = None, **headers: str
    ) -> Any:
        """Call any route of `/api/openapi.json`, for routes without a method: `client.call("GET", "/nodes")`. Returns
        JSON as data and files as bytes."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self._calls.any(method, path, body, query=query, headers=named)

    async def send_event(
        self,
        name: str,
        payload: Any = None,
        *,
        correlation_id: str | None = None,
        key: str | None = None,
        instance_id: str | None = None,
        broadcast: bool = False,
        idempotency_key: str | None = None,
    ) -> t.Receipt:
        body = {
            "payload": payload,
            "correlation_id": correlation_id,
            "key": key,
            "instance_id": instance_id,
            "broadcast": broadcast,
        }
        headers = {} if idempotency_key is None else {"idempotency-key": idempotency_key}
        return await self._calls.post(t.Receipt, path_of("events", name), body, headers=headers)
