"""Scenes for the scenarios: two nodes that take work, on a store and with a carrier of steps.

`make test` plays them on SQLite with a broker and on PostgreSQL with its own work table, each with all effects inline and with
all effects on a queue. `HOLDFAST_TEST_SCENES=all` (as `make chaos PARTS=matrix` does) plays them on every store with every
carrier.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from holdfast import Holdfast
from holdfast.dispatch import transport_from_url
from holdfast.dispatch.local import LocalBus, LocalTransport
from holdfast.dispatch.steps import TransportSteps
from holdfast.management.runtime import ManagedRuntime
from holdfast.ports import Transport
from holdfast.runtime.commits.placement import INLINE, Placement
from holdfast.runtime.result import RunResult
from tests.integration.conftest import Cluster
from tests.support.services.availability import Needed
from tests.support.services.brokers import PORTS, broker_at_hand, broker_url

SCENES = "HOLDFAST_TEST_SCENES"
STORES: Mapping[str, tuple[str, ...]] = {
    "memory": (),
    "sqlite": (),
    "postgresql": ("postgres",),
    "mysql": ("mysql",),
}
"""With the service that each needs."""
CARRIERS = (INLINE, "local", "database", *PORTS)
QUEUE = "heavy"


class Scene:
    def __init__(self, cluster: Cluster, carrier: str, default: str) -> None:
        self.cluster = cluster
        self.carrier = carrier
        self.default = default
        self._bus = LocalBus()
        self._transports: list[Transport] = []
        self._address = ""
        self._engines: list[Holdfast] = []
        self.nodes: list[ManagedRuntime] = []

    async def node(self, name: str, activities: list[Any], *, work: bool = True) -> ManagedRuntime:
        placement = Placement(default=self.default)
        if self.carrier not in (INLINE, "database"):
            transport = self._transport()
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

    def _transport(self) -> Transport:
        if self.carrier == "local":
            return LocalTransport(self._bus)
        self._address = self._address or f"{broker_url(self.carrier)}?prefix=scene{uuid4().hex[:8]}"
        return transport_from_url(self._address)

    async def pair(self, *activities: Any) -> tuple[ManagedRuntime, ManagedRuntime]:
        return await self.node("a", list(activities)), await self.node("b", list(activities))

    async def close(self) -> None:
        await self.cluster.close()
        for queue in ("default", QUEUE) if self._address else ():
            await self._transports[0].delete_queue(f"{queue}@{self.cluster.tenant}")
        for transport in self._transports:
            await transport.close()
        for engine in self._engines:
            engine.close()


def _scene(store: str, carrier: str, default: str) -> Any:
    services = (*STORES[store], *([carrier] if carrier in PORTS else []))
    place = "inline" if default == INLINE else "queue"
    name = f"{store}-inline" if carrier == INLINE else f"{store}-{carrier}-{place}"
    return pytest.param((store, carrier, default), id=name, marks=[pytest.mark.service(item) for item in services])


def _scenes() -> list[Any]:
    if os.environ.get(SCENES) == "all":
        return [
            _scene(store, carrier, INLINE if carrier == INLINE else QUEUE)
            for store, carrier in product(STORES, CARRIERS)
        ]
    usual = (("sqlite", "local"), ("postgresql", "database"))
    return [_scene(store, carrier, default) for store, carrier in usual for default in (INLINE, QUEUE)]


@pytest.fixture(params=_scenes())
def place(request: pytest.FixtureRequest, tmp_path: Path, servers: dict[str, str]) -> tuple[str, str, str]:
    """The store's address, the carrier, and where effects go that say nothing themselves."""
    store, carrier, default = request.param
    if carrier in PORTS:
        broker_at_hand(carrier)
    if store == "memory":
        return "memory://", carrier, default
    if store == "sqlite":
        return f"sqlite:///{tmp_path / 'scene.db'}", carrier, default
    with Needed(*STORES[store]):
        return servers[store], carrier, default


@pytest.fixture
async def scene(place: tuple[str, str, str]) -> AsyncIterator[Scene]:
    url, carrier, default = place
    found = Scene(Cluster(url), carrier, default)
    try:
        async with asyncio.timeout(60):
            yield found
    finally:
        await found.close()


async def start(runtime: ManagedRuntime, workflow: Any, **inputs: Any) -> str:
    answer = await runtime.start(workflow, inputs)
    assert answer.result is not None
    return answer.result.instance_id


async def at_rest(runtime: ManagedRuntime, identity: str) -> RunResult:
    async with asyncio.timeout(40):
        return await runtime.wait_at_rest(identity)


async def until(what: Callable[[], Awaitable[bool]], within: timedelta = timedelta(seconds=30)) -> None:
    async with asyncio.timeout(within.total_seconds()):
        while True:
            if await what():
                return
            await asyncio.sleep(0.01)
