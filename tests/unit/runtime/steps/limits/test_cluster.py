"""A limit of a queue for the whole cluster: two nodes never exceed it together."""

from __future__ import annotations

from datetime import timedelta

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

    assert (await a.reserve(2, used=0), await b.reserve(5, used=0)) == (2, 1)
    assert await b.reserve(1, used=0) == 0

    a.settle(2, started=1)
    await a.give_back(used=1)
    assert (a.held, await b.reserve(2, used=0)) == (1, 1)


async def test_tenants_do_not_share_a_limit() -> None:
    cluster, limit = Cluster(), Limit(concurrency=1)
    a, b = await cluster.node("a", limit, "acme"), await cluster.node("b", limit, "globex")

    assert (await a.reserve(1, used=0), await b.reserve(1, used=0)) == (1, 1)


async def test_places_of_a_dead_node_are_free_again() -> None:
    cluster, limit = Cluster(), Limit(concurrency=2)
    a = await cluster.node("a", limit)
    assert await a.reserve(2, used=0) == 2
    cluster.clock.advance(LEASE)
    b = await cluster.node("b", limit)

    assert await b.reserve(2, used=0) == 2


async def test_starts_per_second_are_shared_and_fill_up() -> None:
    cluster, limit = Cluster(), Limit(per_second=2.0)
    a, b = await cluster.node("a", limit), await cluster.node("b", limit)
    assert await a.reserve(2, used=0) == 2
    a.settle(2, started=2)
    assert await b.reserve(1, used=0) == 0

    cluster.clock.advance(timedelta(milliseconds=500))

    assert await b.reserve(2, used=0) == 1


async def test_unused_starts_are_returned() -> None:
    cluster, limit = Cluster(), Limit(per_second=2.0)
    a, b = await cluster.node("a", limit), await cluster.node("b", limit)
    assert await a.reserve(2, used=0) == 2
    a.settle(2, started=0)
    await a.give_back(used=0)

    assert (a.tokens, await b.reserve(2, used=0)) == (0, 2)


def test_a_fast_rate_is_polled_faster() -> None:
    store, log = MemoryStore(), OutageLog("a")
    made = [
        ClusterLimit(store, Membership("a"), log, "", "mail", limit)
        for limit in (Limit(concurrency=1), Limit(per_second=1.0), Limit(per_second=10.0))
    ]

    assert [limit.poll_seconds for limit in made] == [POLL_SECONDS, POLL_SECONDS, 0.1]
