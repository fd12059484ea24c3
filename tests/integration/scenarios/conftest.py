"""Scenes for the scenarios: two nodes that take work, on SQLite with a broker and on PostgreSQL with its own work table, and each
with all effects inline and with all effects on a queue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.dispatch.local import LocalBus, LocalTransport
from holdfast.dispatch.steps import TransportSteps
from holdfast.runtime.durable.placement import INLINE, Placement
from holdfast.runtime.durable.runtime import Runtime
from holdfast.runtime.result import RunResult
from tests.integration.conftest import Cluster

QUEUE = "heavy"


class Scene:
    def __init__(self, cluster: Cluster, carrier: str, default: str) -> None:
        self.cluster = cluster
        self.carrier = carrier
        self.default = default
        self._bus = LocalBus()
        self._transports: list[LocalTransport] = []
        self._engines: list[Holdfast] = []
        self.nodes: list[Runtime] = []

    async def node(self, name: str, activities: list[Any], *, work: bool = True) -> Runtime:
        placement = Placement(default=self.default)
        if self.carrier == "local":
            transport = LocalTransport(self._bus)
            await transport.open()
            self._transports.append(transport)
            placement = Placement(default=self.default, dispatcher=TransportSteps(transport), transport=transport)
        engine = Holdfast(entry_points=False, activities=activities)
        self._engines.append(engine)
        runtime = await self.cluster.node(
            name, engine=engine, work=work, queues=("default", QUEUE), placement=placement
        )
        self.nodes.append(runtime)
        return runtime

    async def pair(self, *activities: Any) -> tuple[Runtime, Runtime]:
        return await self.node("a", list(activities)), await self.node("b", list(activities))

    async def close(self) -> None:
        await self.cluster.close()
        for transport in self._transports:
            await transport.close()
        for engine in self._engines:
            engine.close()


@pytest.fixture(
    params=[
        ("sqlite", "local", INLINE),
        ("sqlite", "local", QUEUE),
        pytest.param(("postgresql", "database", INLINE), marks=pytest.mark.service("postgres")),
        pytest.param(("postgresql", "database", QUEUE), marks=pytest.mark.service("postgres")),
    ],
    ids=["sqlite-local-inline", "sqlite-local-queue", "postgresql-database-inline", "postgresql-database-queue"],
)
async def scene(request: pytest.FixtureRequest, tmp_path: Path, servers: dict[str, str]) -> AsyncIterator[Scene]:
    kind, carrier, default = request.param
    url = f"sqlite:///{tmp_path / 'scene.db'}" if kind == "sqlite" else servers[kind]
    found = Scene(Cluster(url), carrier, default)
    try:
        async with asyncio.timeout(60):
            yield found
    finally:
        await found.close()


async def start(runtime: Runtime, workflow: Any, **inputs: Any) -> str:
    answer = await runtime.start(workflow, inputs)
    assert answer.result is not None
    return answer.result.instance_id


async def at_rest(runtime: Runtime, identity: str) -> RunResult:
    async with asyncio.timeout(40):
        return await runtime.wait_at_rest(identity)


async def until(what: Callable[[], Awaitable[bool]], within: timedelta = timedelta(seconds=30)) -> None:
    async with asyncio.timeout(within.total_seconds()):
        while True:
            if await what():
                return
            await asyncio.sleep(0.01)
