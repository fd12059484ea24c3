"""A limit of a queue for the whole cluster: two nodes never exceed it together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from holdfast.errors import StoreUnavailable
from holdfast.model.record_rows import RecordRow
from holdfast.model.work import InboxRow, WorkRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.steps.limits.cluster import POLL_SECONDS, ClusterLimit
from holdfast.runtime.steps.limits.spec import Limit
from holdfast.testing.clock import VirtualClock

LEASE = timedelta(seconds=30)


class Cluster:
    def __init__(self) -> None:
        self.clock = VirtualClock(jump=False)
        self.store = MemoryStore(now=self.clock.now)

    async def node(self, name: str, limit: Limit, tenant: str = "acme") -> ClusterLimit:
        membership = Membership(name)
        membership.join(await self.store.register_node(name, time_to_live=LEASE), lambda: 0)
        return ClusterLimit(self.store, membership, OutageLog(name), tenant, "mail", limit)


async def test_two_nodes_share_the_places() -> None:
    cluster, limit = Cluster(), Limit(concurrency=3)
    a, b = await cluster.node("a", limit), await cluster.node("b", limit)

    assert (await a.reserve(2, used=lambda: 0), await b.reserve(5, used=lambda: 0)) == (2, 1)
    assert await b.reserve(1, used=lambda: 0) == 0

    a.settle(2, started=1)
    await a.give_back(used=lambda: 1)
    assert (a.held, await b.reserve(2, used=lambda: 0)) == (1, 1)


async def test_tenants_do_not_share_a_limit() -> None:
    cluster, limit = Cluster(), Limit(concurrency=1)
    a, b = await cluster.node("a", limit, "acme"), await cluster.node("b", limit, "globex")

    assert (await a.reserve(1, used=lambda: 0), await b.reserve(1, used=lambda: 0)) == (1, 1)


async def test_places_of_a_dead_node_are_free_again() -> None:
    cluster, limit = Cluster(), Limit(concurrency=2)
    a = await cluster.node("a", limit)
    assert await a.reserve(2, used=lambda: 0) == 2
    cluster.clock.advance(LEASE)
    b = await cluster.node("b", limit)

    assert await b.reserve(2, used=lambda: 0) == 2


async def test_starts_per_second_are_shared_and_fill_up() -> None:
    cluster, limit = Cluster(), Limit(per_second=2.0)
    a, b = await cluster.node("a", limit), await cluster.node("b", limit)
    assert await a.reserve(2, used=lambda: 0) == 2
    a.settle(2, started=2)
    assert await b.reserve(1, used=lambda: 0) == 0

    cluster.clock.advance(timedelta(milliseconds=500))

    assert await b.reserve(2, used=lambda: 0) == 1


async def test_unused_starts_are_returned() -> None:
    cluster, limit = Cluster(), Limit(per_second=2.0)
    a, b = await cluster.node("a", limit), await cluster.node("b", limit)
    assert await a.reserve(2, used=lambda: 0) == 2
    a.settle(2, started=0)
    await a.give_back(used=lambda: 0)

    assert (a.tokens, await b.reserve(2, used=lambda: 0)) == (0, 2)


def test_a_fast_rate_is_polled_faster() -> None:
    store, log = MemoryStore(), OutageLog("a")
    made = [
        ClusterLimit(store, Membership("a"), log, "", "mail", limit)
        for limit in (Limit(concurrency=1), Limit(per_second=1.0), Limit(per_second=10.0))
    ]

    assert [limit.poll_seconds for limit in made] == [POLL_SECONDS, POLL_SECONDS, 0.1]


class SlowStore(MemoryStore):
    """Writes of records wait for the gate. They can fail after they were done."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__(now=now)
        self.gate = asyncio.Event()
        self.gate.set()
        self.writing = asyncio.Event()
        self.fails_after = False

    async def put_record(self, row: RecordRow, work: Sequence[WorkRow] = (), inbox: Sequence[InboxRow] = ()) -> bool:
        self.writing.set()
        await self.gate.wait()
        done = await super().put_record(row, work)
        if self.fails_after:
            raise StoreUnavailable("The connection was lost.")
        return done


async def test_a_place_that_is_being_returned_is_not_reserved_meanwhile() -> None:
    cluster, limit = Cluster(), Limit(concurrency=3)
    store = cluster.store = SlowStore(cluster.clock.now)
    a, b = await cluster.node("a", limit), await cluster.node("b", limit)
    a.settle(await a.reserve(3, used=lambda: 0), started=0)
    store.gate.clear()
    store.writing.clear()

    async with asyncio.TaskGroup() as group:
        group.create_task(a.give_back(used=lambda: 0))
        await store.writing.wait()
        again = group.create_task(a.reserve(3, used=lambda: 0))
        await asyncio.sleep(0)
        store.gate.set()

    assert again.result() + await b.reserve(3, used=lambda: 0) <= 3


async def test_a_place_counts_as_returned_if_the_outcome_of_the_write_is_unknown() -> None:
    cluster, limit = Cluster(), Limit(concurrency=3)
    store = cluster.store = SlowStore(cluster.clock.now)
    a, b = await cluster.node("a", limit), await cluster.node("b", limit)
    a.settle(await a.reserve(3, used=lambda: 0), started=0)
    store.fails_after = True
    await a.give_back(used=lambda: 0)
    store.fails_after = False

    assert await b.reserve(3, used=lambda: 0) == 3
    assert await a.reserve(3, used=lambda: 0) == 0
