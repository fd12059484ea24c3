"""Wires: send requests to a server over HTTP, or to an ASGI application in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import unquote, urlencode

from msgspec import Struct

from holdfast.errors import HoldfastError, ServerUnavailable

Query = Sequence[tuple[str, str]]


class WireResponse(Struct, frozen=True, kw_only=True):
    status: int
    headers: Mapping[str, str]
    """Keys are lower case."""
    body: bytes


class Wire(Protocol):
    """Sends one request and returns its response. Raises `ServerUnavailable`."""

    async def open(self) -> None: ...
    async def close(self) -> None: ...
    async def send(
        self, method: str, path: str, query: Query, headers: Mapping[str, str], body: bytes | None
    ) -> WireResponse: ...


class HttpWire:
    """Sends requests over HTTP with persistent connections."""

    def __init__(self, url: str, *, timeout_s: float = 60.0) -> None:
        self._url = url.rstrip("/")
        self._timeout_s = timeout_s
        self._session: Any = None

    async def open(self) -> None:
        try:
            import aiohttp
        except ImportError:
            raise HoldfastError("The client needs aiohttp. Install it: pip install 'holdfast[client]'") from None
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=self._timeout_s))

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(
        self, method: str, path: str, query: Query, headers: Mapping[str, str], body: bytes | None
    ) -> WireResponse:
        import aiohttp

        if self._session is None:
            raise HoldfastError("The client is not open. Use it inside `async with Client(…) as client:`.")
        address = f"{self._url}{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            async with self._session.request(method, address, headers=headers, data=body) as response:
                found = {name.lower(): value for name, value in response.headers.items()}
                return WireResponse(status=response.status, headers=found, body=await response.read())
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ServerUnavailable(self._url, str(error) or type(error).__name__) from error


class AsgiWire:
    """Calls an ASGI application in this process without a socket; the command line uses it on a store."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._life: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Run the start-up of the application. Raises its errors."""
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        self._life = asyncio.get_running_loop().create_task(
            self._app(scope, self._inbox.get, self._outbox.put), name="holdfast-asgi-life"
        )
        await self._send_lifespan("lifespan.startup")

    async def close(self) -> None:
        if self._life is not None and not self._life.done():
            await self._send_lifespan("lifespan.shutdown")
            await self._life

    async def _send_lifespan(self, what: str) -> None:
        assert self._life is not None
        await self._inbox.put({"type": what})
        answer = asyncio.get_running_loop().create_task(self._outbox.get())
        await asyncio.wait([answer, self._life], return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            answer.cancel()
            self._life.result()  # Raises the error that ended it.
            raise ServerUnavailable("this process", "the application ended while it started")
        if answer.result()["type"].endswith(".failed"):
            await self._life  # Frameworks put a traceback in the message and then raise the error itself.
            raise ServerUnavailable("this process", answer.result().get("message", "start-up failed"))

    async def send(
        self, method: str, path: str, query: Query, headers: Mapping[str, str], body: bytes | None
    ) -> WireResponse:
        sent = {"host": "127.0.0.1", **{name.lower(): value for name, value in headers.items()}}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": urlencode(query).encode(),
            "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "state": {},
        }
        exchange = _Exchange(body or b"")
        try:
            await self._app(scope, exchange.receive, exchange.send)
        except Exception:
            # Servers do the same: an error after the response is only logged.
            if not exchange.answered:
                raise
        return exchange.response()


class _Exchange:
    def __init__(self, body: bytes) -> None:
        self._request: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]
        self.answered = False
        self._status = 500
        self._headers: dict[str, str] = {}
        self._parts: list[bytes] = []
        self._never = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        if self._request:
            return self._request.pop()
        await self._never.wait()  # The client stays connected until the response is complete.
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.answered = True
            self._status = message["status"]
            self._headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
        elif message["type"] == "http.response.body":
            self._parts.append(message.get("body", b""))

    def response(self) -> WireResponse:
        return WireResponse(status=self._status, headers=self._headers, body=b"".join(self._parts))
