"""Program that runs the four walks of docs/architecture.md and prints the source files that each of them executes, as JSON.

Run it with `python -m tests.support.walks FOLDER`. It profiles function calls, so it needs a process of its own. Files of
background services that happen to run meanwhile are included.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import httpx

import holdfast
from holdfast import Holdfast, Workflow, activity, expr, wait_for, workflow
from holdfast.activities import HttpEndpoint, Sequence, WriteHttpResponse
from holdfast.server import create_app

SOURCE = f"{Path(holdfast.__file__).parent}/"


@dataclass
class Approval:
    approved: bool


@workflow
async def fulfil(order_id: str) -> str:
    answer = await wait_for(Approval, key=order_id)
    return "approved" if answer.approved else "declined"


@activity(queue="pictures")
async def resize(width: int) -> int:
    return width // 2


@workflow
async def thumbnail(width: int) -> int:
    return await resize(width)


order = Workflow(
    Sequence(
        HttpEndpoint(path="orders", supported_methods=["POST"], parsed_content="order", can_start=True),
        WriteHttpResponse(status_code=201, content=expr("order['article']")),
    ),
    id="order",
    variables={"order": None},
)


class Tracer:
    """Files of Holdfast whose functions are called inside `walk`, by the name of the walk."""

    def __init__(self) -> None:
        self.files: dict[str, list[str]] = {}
        self._current: dict[str, None] | None = None

    def profile(self, frame: FrameType, event: str, argument: Any) -> None:
        current, file = self._current, frame.f_code.co_filename
        if current is not None and event == "call" and file.startswith(SOURCE):
            current[file.removeprefix(SOURCE)] = None

    @contextmanager
    def walk(self, name: str) -> Iterator[None]:
        self._current = {}
        try:
            yield
        finally:
            self.files[name], self._current = list(self._current), None


async def start_and_event(tracer: Tracer, store: str) -> None:
    async with Holdfast(store=store, workflows=[fulfil]) as app:
        first = await app.start(fulfil, "first")  # The first of each kind also publishes, compiles and imports.
        await app.send(Approval(approved=True), key="first")
        await first.result()
        with tracer.walk("start"):
            second = await app.start(fulfil, "second")
        with tracer.walk("event"):
            await app.send(Approval(approved=True), key="second")
        assert await second.result() == "approved"


async def step(tracer: Tracer, store: str) -> None:
    one = Holdfast(store=store, workflows=[thumbnail], node="one", queues="default")
    two = Holdfast(store=store, workflows=[thumbnail], node="two", queues="pictures")
    async with one, two:
        await (await one.start(thumbnail, 10)).result()
        with tracer.walk("step"):
            assert await (await one.start(thumbnail, 20)).result() == 10


async def http(tracer: Tracer, store: str) -> None:
    engine = Holdfast(store=store, workflows=[order])
    app = create_app(engine, auth=False, studio=False)
    transport = httpx.ASGITransport(app)
    async with engine, httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        await client.post("/workflows/orders", json={"article": "rope"})
        with tracer.walk("http"):
            answer = await client.post("/workflows/orders", json={"article": "rope"})
        assert answer.status_code == 201
        await app.close()


async def main(folder: str) -> None:
    tracer = Tracer()
    sys.setprofile(tracer.profile)
    threading.setprofile(tracer.profile)
    for number, walk in enumerate((start_and_event, step, http)):
        await walk(tracer, f"sqlite:///{folder}/{number}.db")
    sys.setprofile(None)
    json.dump(tracer.files, sys.stdout, indent=1)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
