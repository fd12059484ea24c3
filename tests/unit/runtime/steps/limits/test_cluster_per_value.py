"""A limit per value of an input for the whole cluster."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from random import Random

import pytest
from msgspec import json

from holdfast.errors import StoreUnavailable
from holdfast.model.record_rows import RecordQuery, RecordRow
from holdfast.model.work import InboxRow, WorkRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.steps.limits import ledger as ledger_module
from holdfast.runtime.steps.limits.cluster_per_value import ClusterLimitPerValue
from holdfast.runtime.steps.limits.ledger import KIND
from holdfast.runtime.steps.limits.spec import Limit
from holdfast.testing.clock import VirtualClock

ADA, BOB = "a0" * 8, "b1" * 8
"""Hashes of two values, in different records."""
LEASE = timedelta(seconds=30)


class Cluster:
    def __init__(self) -> None:
        self.clock = VirtualClock(jump=False)
        self.store = MemoryStore(now=self.clock.now)

    async def node(self, name: str, limit: Limit) -> ClusterLimitPerValue:
        membership = Membership(name)
        membership.join(await self.store.register_node(name, time_to_live=LEASE), lambda: 0)
        return ClusterLimitPerValue(self.store, membership, OutageLog(name), "acme", "mail/customer", limit)

    async def stored(self) -> list[object]:
        rows = await self.store.list_records(RecordQuery(tenant="acme", kind=KIND, limit=100))
        return [value for row in rows for value in json.decode(row.payload)]


async def test_each_value_has_its_own_places() -> None:
    cluster, limit = Cluster(), Limit(concurrency=1)
    a, b = await cluster.node("a", limit), await cluster.node("b", limit)

    assert await a.take(ADA)
    assert not await b.take(ADA)
    assert await b.take(BOB)
    await a.give_back(ADA)
    assert await b.take(ADA)


async def test_a_value_that_is_not_in_use_is_not_stored() -> None:
    cluster = Cluster()
    a = await cluster.node("a", Limit(concurrency=1))
    assert await a.take(ADA)
    assert await cluster.stored() == [ADA]

    await a.give_back(ADA)

    assert await cluster.stored() == []


async def test_starts_of_a_value_wait_for_its_tokens() -> None:
    cluster = Cluster()
    a = await cluster.node("a", Limit(per_second=1.0))
    assert await a.take(ADA)
    await a.give_back(ADA)
    assert not await a.take(ADA)

    cluster.clock.advance(timedelta(seconds=1))

    assert await a.take(ADA)


async def test_simultaneous_requests_of_one_node_do_not_exceed_the_limit() -> None:
    cluster = Cluster()
    a = await cluster.node("a", Limit(concurrency=2))

    assert sorted(await asyncio.gather(*(a.take(ADA) for _ in range(5)))) == [False, False, False, True, True]


async def test_places_of_a_dead_node_are_free_again() -> None:
    cluster, limit = Cluster(), Limit(concurrency=1)
    a = await cluster.node("a", limit)
    assert await a.take(ADA)
    cluster.clock.advance(LEASE)
    b = await cluster.node("b", limit)

    assert await b.take(ADA)


class YieldingStore(MemoryStore):
    """Lets other tasks run during a read, as a database does."""

    async def get_record(self, tenant: str, kind: str, record_id: str) -> RecordRow | None:
        await asyncio.sleep(0)
        return await super().get_record(tenant, kind, record_id)


async def test_requests_of_one_moment_share_a_write() -> None:
    cluster = Cluster()
    cluster.store = YieldingStore(now=cluster.clock.now)
    a = await cluster.node("a", Limit(concurrency=8, per_second=50.0))

    assert await asyncio.gather(*(a.take(ADA) for _ in range(8))) == [True] * 8

    (row,) = await cluster.store.list_records(RecordQuery(tenant="acme", kind=KIND, limit=100))
    assert row.version <= 2


async def test_a_place_that_is_free_again_serves_the_next_step_of_this_node_without_a_write() -> None:
    cluster, limit = Cluster(), Limit(concurrency=1)
    a, b = await cluster.node("a", limit), await cluster.node("b", limit)
    assert await a.take(ADA)
    before = await cluster.store.list_records(RecordQuery(tenant="acme", kind=KIND, limit=100))

    a.free(ADA)
    assert not await b.take(ADA)
    assert await a.take(ADA)
    await a.settle(ADA)

    assert await cluster.store.list_records(RecordQuery(tenant="acme", kind=KIND, limit=100)) == before
    a.free(ADA)
    await a.settle(ADA)
    assert await b.take(ADA)


async def test_a_refused_step_is_told_when_the_next_token_comes() -> None:
    cluster = Cluster()
    a = await cluster.node("a", Limit(concurrency=4, per_second=10.0))
    for _ in range(10):
        assert await a.take(ADA)
        await a.give_back(ADA)

    assert not await a.take(ADA)

    assert 0 < a.pause_of(ADA) <= 0.1


class FailingStore(MemoryStore):
    """Fails some writes of records, before or after they are stored."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self._random = random

    async def put_record(self, row: RecordRow, work: Sequence[WorkRow] = (), inbox: Sequence[InboxRow] = ()) -> bool:
        dice = self._random.random()
        await asyncio.sleep(0)
        if dice < 0.05:
            raise StoreUnavailable("No answer.")
        stored = await super().put_record(row, work, inbox)
        await asyncio.sleep(0)
        if dice > 0.95:
            raise StoreUnavailable("No answer.")
        return stored


@pytest.mark.parametrize("seed", range(10))
async def test_nodes_never_exceed_the_limit_together(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any order of starts, ends and returns on three nodes, with failed writes."""
    monkeypatch.setattr(ledger_module, "CONFLICT_JITTER_SECONDS", 0.0)
    random, cluster, limit = Random(seed), Cluster(), Limit(concurrency=3)
    cluster.store = FailingStore(random)
    nodes = [await cluster.node(name, limit) for name in "abc"]
    running: Counter[str] = Counter()
    started = 0

    async def step(node: ClusterLimitPerValue) -> None:
        nonlocal started
        value = random.choice((ADA, BOB))
        if not await node.take(value):
            return
        started += 1
        running[value] += 1
        assert running[value] <= 3
        for _ in range(random.randrange(5)):
            await asyncio.sleep(0)
        running[value] -= 1
        node.free(value)
        for _ in range(random.randrange(5)):
            await asyncio.sleep(0)
        await node.settle(value)

    async def worker(node: ClusterLimitPerValue) -> None:
        for _ in range(40):
            await step(node)

    await asyncio.gather(*(worker(node) for node in nodes for _ in range(4)))

    assert started > 40
