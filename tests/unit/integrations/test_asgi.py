"""Holdfast is open while an ASGI server serves, and the server hears why if it cannot be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.errors import HoldfastError
from holdfast.integrations.asgi import with_lifespan


class Server:
    """What uvicorn does with an application, as far as its life is concerned."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.Task[None]]:
        task = asyncio.create_task(self.application({"type": "lifespan"}, self.said.get, self.heard.put))
        try:
            yield task
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def say(self, word: str) -> dict[str, Any]:
        await self.said.put({"type": f"lifespan.{word}"})
        async with asyncio.timeout(20):
            return await self.heard.get()


async def inner(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "served", "path": scope["path"]})


async def test_it_is_open_in_between(tmp_path: Path) -> None:
    done: list[str] = []

    async def before() -> None:
        done.append("before")

    holdfast = Holdfast(store=f"sqlite:///{tmp_path / 'kept.db'}", entry_points=False)
    server = Server(with_lifespan(inner, holdfast, before=before))
    async with server.running():
        assert await server.say("startup") == {"type": "lifespan.startup.complete"}
        assert (done, holdfast.is_open) == (["before"], True)
        await server.application({"type": "http", "path": "/"}, None, server.heard.put)
        assert await server.heard.get() == {"type": "served", "path": "/"}
        assert await server.say("shutdown") == {"type": "lifespan.shutdown.complete"}
        assert not holdfast.is_open


async def test_a_start_that_fails_is_told(tmp_path: Path) -> None:
    holdfast = Holdfast(store=f"sqlite:///{tmp_path / 'no' / 'such' / 'kept.db'}", entry_points=False)
    server = Server(with_lifespan(inner, holdfast))
    async with server.running() as task:
        told = await server.say("startup")
        assert told["type"] == "lifespan.startup.failed"
        assert told["message"]
        with pytest.raises(HoldfastError):
            await task
