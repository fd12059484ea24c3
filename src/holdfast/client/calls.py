"""HTTP calls: send a request, decode the response, raise refusals as errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from holdfast.client.wire import Query, Wire, WireResponse
from holdfast.errors import RequestRefused

T = TypeVar("T")

REFUSED = 400


class Calls:
    """Sends requests with the caller's credentials and decodes responses to the requested type."""

    def __init__(self, wire: Wire, headers: Mapping[str, str]) -> None:
        self.wire = wire
        self.headers = dict(headers)

    async def get(self, kind: type[T], path: str, query: Mapping[str, Any] | None = None) -> T:
        return self._read(await self._send("GET", path, query=query), kind)

    async def fetch(self, path: str, query: Mapping[str, Any] | None = None) -> bytes:
        """A file as bytes."""
        return (await self._send("GET", path, query=query)).body

    async def post(
        self,
        kind: type[T],
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> T:
        return self._read(await self._send("POST", path, body, query=query, headers=headers), kind)

    async def put(self, kind: type[T], path: str, body: Any, *, headers: Mapping[str, str] | None = None) -> T:
        return self._read(await self._send("PUT", path, body, headers=headers), kind)

    async def any(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """JSON as data, files as bytes, an empty response as None."""
        response = await self._send(method, path, body, query=query, headers=headers)
        is_json = response.headers.get("content-type", "").partition(";")[0] == "application/json"
        return self._read(response, Any) if is_json and response.body else response.body or None

    async def delete(self, path: str) -> None:
        await self._send("DELETE", path)

    async def _send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> WireResponse:
        sent = {**self.headers, **(headers or {}), "accept": "application/json"}
        data = None
        if body is not None:
            data = msgspec.json.encode(body)
            sent["content-type"] = "application/json"
        response = await self.wire.send(method, f"/api{path}", flat(query or {}), sent, data)
        if response.status >= REFUSED:
            raise refusal(response)
        return response

    @staticmethod
    def _read(response: WireResponse, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(response.body, type=kind)
        except msgspec.DecodeError as error:
            raise RequestRefused(
                response.status,
                "answer.unreadable",
                f"The response cannot be decoded ({error}). Is this the address of a Holdfast server of a similar version?",
            ) from error


def flat(query: Mapping[str, Any]) -> Query:
    """Query pairs: lists are repeated, None is omitted."""
    return [
        (name, str(item).lower() if isinstance(item, bool) else str(item))
        for name, value in query.items()
        for item in (value if isinstance(value, list | tuple) else [value])
        if item is not None
    ]


def path_of(*parts: str) -> str:
    """A path with quoted parts."""
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def refusal(response: WireResponse) -> RequestRefused:
    try:
        problem: Any = msgspec.json.decode(response.body)
    except msgspec.DecodeError:
        problem = None
    if not isinstance(problem, dict):
        return RequestRefused(
            response.status, "unknown", f"The server answered {response.status} without a reason. See its log."
        )
    return RequestRefused(
        response.status,
        str(problem.get("code", "unknown")),
        str(problem.get("detail") or problem.get("title") or f"The server answered {response.status}."),
        problem.get("errors") or (),
    )
