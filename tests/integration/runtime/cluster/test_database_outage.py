"""A database that was away for all nodes, longer than their leases: no effect of a living node begins a second time.

Time is virtual: a test moves the clocks of the nodes and makes the stored heartbeats older by the same time, while every lease
lasts far longer than the test. The test also makes every heartbeat and every sweep. The connections that break are real.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast import Context, Holdfast, OnLost, Status, Workflow, activity
from holdfast.activities import Sequence
from holdfast.errors import StoreUnavailable
from holdfast.management.runtime import ManagedRuntime
from holdfast.persistence import store_from_url
from holdfast.ports import Store
from holdfast.runtime import liveness
from holdfast.runtime.cluster import heartbeat
from tests.support.database_wire import DatabaseWire
from tests.support.node import node_of
from tests.support.services.mysql import executed
from tests.support.services.postgresql import executed as executed_on_postgresql

LEASE = timedelta(hours=1)
EFFECTS = 4
"""Effects that run on each node."""
TENANT = "outage"
NAMES = ("outage-a", "outage-b", "outage-c")
SECOND = timedelta(seconds=1)
BEGUN: Counter[str] = Counter()
GATE: list[asyncio.Event] = []
CHANGED: list[asyncio.Event] = []


async def _run(name: str) -> str:
    BEGUN[name] += 1
    CHANGED[0].set()
    await GATE[0].wait()
    return name


@activity
async def charge(name: str, context: Context) -> str:
    return await _run(name)


@activity(on_lost=OnLost.HOLD)
async def charge_once(name: str, context: Context) -> str:
    return await _run(name)


async def begun(count: int) -> None:
    """Wait until so many effects have begun."""
    async with asyncio.timeout(60):
        while BEGUN.total() < count:
            CHANGED[0].clear()
            await CHANGED[0].wait()


class VirtualTime:
    """The monotonic clock of the nodes, and the age of the heartbeats in the database."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._seconds = 0.0

    def monotonic(self) -> float:
        return self._seconds

    async def advance(self, by: timedelta) -> None:
        ids = ", ".join(f"'{name}'" for name in NAMES)
        older = f"update hf_node set heartbeat = heartbeat - {by // timedelta(microseconds=1)} where id in ({ids})"
        execute = executed if self._url.startswith("mysql") else executed_on_postgresql
        await execute(self._url, older)
        self._seconds += by.total_seconds()


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
        return cls(wire, runtime, store)

    async def begin(self, kind: Any) -> None:
        for number in range(EFFECTS):
            name = f"{self.runtime.membership.name}{number}"
            started = await self.runtime.start(
                Workflow(Sequence(kind.bind(name)), id=f"paying {kind.function.__name__}")
            )
            assert started.result is not None
            self.instances.append(started.result.instance_id)

    async def live(self) -> None:
        """Renew the lease, then look for effects of dead nodes."""
        await node_of(self.runtime).heartbeat.beat()
        await node_of(self.runtime).components.reaper.sweep()

    async def lose_contact(self, how: str) -> None:
        """Cut the connection or make it silent, and miss a heartbeat."""
        beat = node_of(self.runtime).heartbeat.beat()
        if how == "cut":
            await self.wire.down()
            with pytest.raises(StoreUnavailable):
                await beat
            return
        self.wire.vanish()
        hanging = asyncio.create_task(beat)
        async with asyncio.timeout(60):
            await self.wire.swallowed.wait()
        hanging.cancel()  # As the timeout of a heartbeat does.
        await asyncio.wait([hanging])

    async def stop(self) -> None:
        await self.wire.restore()
        await node_of(self.runtime).stop()
        await self.store.close()
        await self.wire.close()


@pytest.fixture(
    params=[
        pytest.param("postgresql", marks=pytest.mark.service("postgres")),
        pytest.param("mysql", marks=pytest.mark.service("mysql")),
    ]
)
def url(request: pytest.FixtureRequest, servers: dict[str, str]) -> str:
    return servers[request.param]


@pytest.fixture
def clock(url: str, monkeypatch: pytest.MonkeyPatch) -> VirtualTime:
    made = VirtualTime(url)
    for module in (liveness, heartbeat):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=made.monotonic))
    return made


@pytest.fixture
async def nodes(url: str, clock: VirtualTime) -> AsyncIterator[list[Node]]:
    BEGUN.clear()
    GATE[:], CHANGED[:] = [asyncio.Event()], [asyncio.Event()]
    opened = [await Node.start(url, name) for name in NAMES]
    await clock.advance(2 * LEASE)  # Each has been in contact for longer than a lease.
    for node in opened:
        await node_of(node.runtime).heartbeat.beat()
    await live(opened, clock, 2 * LEASE)
    yield opened
    GATE[0].set()
    for node in opened:
        await node.stop()


async def live(nodes: Iterable[Node], clock: VirtualTime, how_long: timedelta) -> None:
    """These nodes renew and sweep, one after the other, four times in each lease."""
    for _ in range(how_long // (LEASE / 4)):
        for node in nodes:
            await node.live()
        await clock.advance(LEASE / 4)


async def outage(nodes: list[Node], how: str, clock: VirtualTime) -> None:
    """The database is away for all nodes until their leases have run out."""
    await asyncio.gather(*(node.lose_contact(how) for node in nodes))
    await clock.advance(LEASE + SECOND)


@pytest.mark.parametrize("how", ["cut", "black hole"])
@pytest.mark.parametrize("kind", [charge, charge_once], ids=["retry", "hold"])
async def test_living_nodes_keep_their_effects(nodes: list[Node], clock: VirtualTime, how: str, kind: Any) -> None:
    for node in nodes:
        await node.begin(kind)
    await begun(len(nodes) * EFFECTS)

    await outage(nodes, how, clock)
    for node in nodes:  # The first one sweeps before the others have renewed, and the last one just in time.
        await node.wire.restore()
        await node.live()
        await clock.advance((LEASE - SECOND) / len(nodes))
    await live(nodes, clock, 2 * LEASE)
    for node in nodes:
        for identity in node.instances:
            assert not (await node.runtime.read(identity)).incidents  # An effect that is held has one until it returns.
    GATE[0].set()

    for node in nodes:
        for identity in node.instances:
            ended = await node.runtime.wait_at_rest(identity)
            assert (ended.status, ended.incidents) == (Status.FINISHED, [])
    assert set(BEGUN.values()) == {1}


@pytest.mark.parametrize("how", ["cut", "black hole"])
async def test_a_node_that_does_not_return_is_taken_over(nodes: list[Node], clock: VirtualTime, how: str) -> None:
    for node in nodes:
        await node.begin(charge)
    await begun(len(nodes) * EFFECTS)
    *living, dead = nodes

    await outage(nodes, how, clock)
    for node in living:
        await node.wire.restore()
    await live(living, clock, LEASE)
    assert set(BEGUN.values()) == {1}  # It could still renew.
    await live(living, clock, LEASE / 2)
    await begun((len(nodes) + 1) * EFFECTS)
    GATE[0].set()

    for node in nodes:
        for identity in node.instances:
            assert (await living[0].runtime.wait_at_rest(identity)).status is Status.FINISHED
    assert {name: count for name, count in BEGUN.items() if count > 1} == {
        f"{dead.runtime.membership.name}{number}": 2 for number in range(EFFECTS)
    }
