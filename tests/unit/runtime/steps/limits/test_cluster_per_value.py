"""A limit per value of an input for the whole cluster."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from msgspec import json

from holdfast.model.record_rows import RecordQuery
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
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
