"""A real server on a free port, in the test's own event loop, and a client that speaks JSON to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import aiohttp
import pytest
import uvicorn
from argon2 import PasswordHasher

from holdfast.engine import Holdfast
from holdfast.server import create_app
from holdfast.server.protocol import server_config
from holdfast.settings import Settings


class Answer(NamedTuple):
    status: int
    body: Any
    headers: Any


class Caller:
    """Asks one server; `expect` makes a wrong status fail with what the server said."""

    def __init__(self, session: aiohttp.ClientSession, url: str, engine: Holdfast, app: Any) -> None:
        self.session = session
        self.url = url
        self.engine = engine
        self.app = app

    async def ask(self, method: str, path: str, body: Any = None, **more: Any) -> Answer:
        given = more.pop("data", None)
        async with self.session.request(
            method, self.url + path, json=body if given is None else None, data=given, **more
        ) as response:
            raw = await response.read()
            kind = response.content_type
            read: Any = raw
            if "json" in kind and raw:
                read = await response.json(content_type=None)
            return Answer(response.status, read, response.headers)

    async def get(self, path: str, *, expect: int = 200, **more: Any) -> Any:
        return await self._expected("GET", path, None, expect, more)

    async def post(self, path: str, body: Any = None, *, expect: int = 200, **more: Any) -> Any:
        return await self._expected("POST", path, body, expect, more)

    async def put(self, path: str, body: Any = None, *, expect: int = 200, **more: Any) -> Any:
        return await self._expected("PUT", path, body, expect, more)

    async def patch(self, path: str, body: Any = None, *, expect: int = 200, **more: Any) -> Any:
        return await self._expected("PATCH", path, body, expect, more)

    async def delete(self, path: str, *, expect: int = 204, **more: Any) -> Any:
        return await self._expected("DELETE", path, None, expect, more)

    async def _expected(self, method: str, path: str, body: Any, expect: int, more: Any) -> Any:
        answer = await self.ask(method, path, body, **more)
        assert answer.status == expect, f"{method} {path}: {answer.status} {answer.body!r}"
        if answer.status >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
        return answer.body

    async def until(self, path: str, ready: Callable[[Any], bool]) -> Any:
        """Ask until the answer is as wanted."""
        async with asyncio.timeout(20):
            while not ready(found := await self.get(path)):  # noqa: ASYNC110 - a server cannot set our event
                await asyncio.sleep(0.02)
        return found


Serve = Callable[..., Awaitable[Caller]]


class Told(uvicorn.Server):
    """Says when it serves, and ends when it is told to instead of at its next tick."""

    def __init__(self, app: Any, **options: Any) -> None:
        options.setdefault("lifespan", "on")
        super().__init__(
            server_config(
                app, app.backend.engine.settings if hasattr(app, "backend") else Settings(), port=0, **options
            )
        )
        self.serving = asyncio.Event()
        self.end = asyncio.Event()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        self.serving.set()
        await self.end.wait()


@asynccontextmanager
async def served(app: Any, **options: Any) -> AsyncIterator[str]:
    server = Told(app, **options)
    server.capture_signals = nullcontext  # type: ignore[method-assign,assignment]
    task = asyncio.create_task(server.serve())
    try:
        async with asyncio.timeout(20):
            await asyncio.wait(
                {task, waiting := asyncio.create_task(server.serving.wait())}, return_when="FIRST_COMPLETED"
            )
        assert waiting.done(), "the server did not start"
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.end.set()
        await task


@pytest.fixture(autouse=True)
def _light_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are hashed as always, only with less work: what is tested here is who may do what."""
    light = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr("holdfast.identity.passwords.PasswordHasher", light)


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a server; `config` goes to the HTTP server, `options` go to create_app."""
    async with AsyncExitStack() as stack:

        async def start(
            engine: Holdfast | None = None, *, config: Mapping[str, Any] = MappingProxyType({}), **options: Any
        ) -> Caller:
            if engine is None:
                engine = Holdfast(store="memory://", entry_points=False)
            app = create_app(engine, **{"auth": False, "studio": False, **options})
            url = await stack.enter_async_context(served(app, **config))
            session = await stack.enter_async_context(aiohttp.ClientSession())
            return Caller(session, url, engine, app)

        yield start


@pytest.fixture
async def api(serve: Serve) -> Caller:
    """A server without sign-in on an empty store in memory."""
    return await serve()
