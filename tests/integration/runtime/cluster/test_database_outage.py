"""A database that was away for all nodes, longer than their leases: no effect of a living node begins a second time."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Context, Holdfast, OnLost, Status, Workflow, activity
from holdfast.activities import Sequence
from holdfast.management.runtime import ManagedRuntime
from holdfast.persistence import store_from_url
from holdfast.ports import Store
from tests.support.database_wire import DatabaseWire
from tests.support.node import node_of

LEASE = timedelta(seconds=4)
"""Long enough for a heartbeat that waits half a lease for its answer, on a busy machine."""
EFFECTS = 4
"""Effects that run on each node."""
TENANT = "outage"

BEGUN: Counter[str] = Counter()
GATE: list[asyncio.Event] = []


async def _run(name: str) -> str:
    BEGUN[name] += 1
    await GATE[0].wait()
    return name


@activity
async def charge(name: str, context: Context) -> str:
    return await _run(name)


@activity(on_lost=OnLost.HOLD)
async def charge_once(name: str, context: Context) -> str:
    return await _run(name)


class Node:
    """A node behind a proxy of its own."""

    def __init__(self, wire: DatabaseWire, runtime: ManagedRuntime, store: Store) -> None:
        self.wire = wire
        self.runtime = runtime
        self.store = store
        self.instances: list[str] = []

    @classmethod
    async def start(cls, url: str, name: str) -> Node:
        wire = await DatabaseWire.before(url)
        store = store_from_url(wire.url(url))
        await store.open()
        engine = Holdfast(entry_points=False, activities=[charge, charge_once])
        runtime = engine.runtime_on(store, tenant=TENANT, node=name)
        runtime.liveness.time_to_live = LEASE
        await node_of(runtime).start()
        node_of(runtime).take_work()
        return cls(wire, runtime, store)

    async def begin(self, kind: Any) -> None:
        for number in range(EFFECTS):
            name = f"{self.runtime.membership.name}{number}"
            started = await self.runtime.start(
                Workflow(Sequence(kind.bind(name)), id=f"paying {kind.function.__name__}")
            )
            assert started.result is not None
            self.instances.append(started.result.instance_id)

    @property
    def silent(self) -> float:
        return time.monotonic() - self.runtime.liveness.renewed_at

    async def stop(self) -> None:
        await self.wire.restore()
        await node_of(self.runtime).stop()
        await self.store.close()
        await self.wire.close()


async def until(condition: Callable[[], bool]) -> None:
    """Real time passes here: leases of a real database run out."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - the condition depends on the clock
            await asyncio.sleep(0.02)


@pytest.fixture(
    params=[
        pytest.param("postgresql", marks=pytest.mark.service("postgres")),
        pytest.param("mysql", marks=pytest.mark.service("mysql")),
    ]
)
def url(request: pytest.FixtureRequest, servers: dict[str, str]) -> str:
    return servers[request.param]


@pytest.fixture
async def nodes(url: str) -> AsyncIterator[list[Node]]:
    BEGUN.clear()
    GATE[:] = [asyncio.Event()]
    opened = [await Node.start(url, name) for name in "abc"]
    yield opened
    GATE[0].set()
    for node in opened:
        await node.stop()


async def outage(nodes: list[Node], how: str, returning: list[Node]) -> None:
    """The database is away for all nodes until their leases have run out; then it is back for some, for longer than a lease."""
    for node in nodes:
        if how == "cut":
            await node.wire.down()
        else:
            node.wire.vanish()
    lease = LEASE.total_seconds()
    await until(lambda: all(node.silent > lease * 1.2 for node in nodes))
    back = time.monotonic()
    for node in returning:
        await node.wire.restore()
    await until(lambda: all(node.runtime.liveness.renewed_at > back + 1.5 * lease for node in returning))


@pytest.mark.parametrize(("how", "kind"), [("cut", charge_once), ("black hole", charge)], ids=["cut", "black hole"])
async def test_living_nodes_keep_their_effects(nodes: list[Node], how: str, kind: Any) -> None:
    for node in nodes:
        await node.begin(kind)
    await until(lambda: len(BEGUN) == len(nodes) * EFFECTS)

    await outage(nodes, how, nodes)
    GATE[0].set()

    for node in nodes:
        for identity in node.instances:
            ended = await node.runtime.wait_at_rest(identity)
            assert (ended.status, ended.incidents) == (Status.FINISHED, [])
    assert set(BEGUN.values()) == {1}


async def test_a_node_that_does_not_return_is_taken_over(nodes: list[Node]) -> None:
    for node in nodes:
        await node.begin(charge)
    await until(lambda: len(BEGUN) == len(nodes) * EFFECTS)
    *living, dead = nodes

    await outage(nodes, "cut", living)
    await until(lambda: sum(BEGUN.values()) == (len(nodes) + 1) * EFFECTS)
    GATE[0].set()

    for node in nodes:
        for identity in node.instances:
            assert (await living[0].runtime.wait_at_rest(identity)).status is Status.FINISHED
    assert {name: count for name, count in BEGUN.items() if count > 1} == {
        f"{dead.runtime.membership.name}{number}": 2 for number in range(EFFECTS)
    }
