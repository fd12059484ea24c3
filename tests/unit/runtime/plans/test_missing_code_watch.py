"""The watch records what a node cannot run for each tenant, opens one incident for each cause, and ends it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from holdfast.errors import CodeMissing, InstanceNotFound, StateUnreadable
from holdfast.model.commit import Commit
from holdfast.model.node_details import NodeDetails
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.plans.missing_code import INCIDENT_AFTER, lacking_code, missing_code
from holdfast.runtime.plans.missing_code_watch import MissingCodeWatch
from holdfast.runtime.plans.obstacles import Obstacles
from holdfast.testing import VirtualClock

LEASE = timedelta(hours=1)
TENANTS = ("acme", "globex")


class FakePlans:
    """Plans of a process that lacks the code of some contents."""

    def __init__(self, *gone: str) -> None:
        self.lacking: set[str] = set()
        self.gone = set(gone)
        self.obstacles = Obstacles(self.lacking)

    def of(self, tenant: str) -> FakePlans:
        return self

    def look_again(self, content: str) -> None: ...

    async def plan(self, content: str) -> None:
        if content in self.gone:
            raise CodeMissing("order", "'price' is gone", "shop", content=content)


class Bench:
    def __init__(self, *gone: str) -> None:
        self.clock = VirtualClock(jump=False)
        self.store = MemoryStore(now=self.clock.now)
        self.plans = FakePlans(*gone)
        self.unreadable: dict[str, Exception] = {}

    async def open(self) -> MissingCodeWatch:
        await self.store.open()
        for tenant, content in (("acme", "old"), ("globex", "new"), ("initech", "old")):
            now = self.clock.now()
            row = InstanceRow("i1", 1, "b1", "suspended", content, "order", 1, now, now, tenant=tenant)
            await self.store.commit([Commit("b1", tenant=tenant, instance=row)])
        return await self.watch()

    async def watch(self) -> MissingCodeWatch:
        """The watch of a new process."""
        membership = Membership("a")
        details = NodeDetails(tenant="acme", tenants=TENANTS, queues=("default",)).encoded()
        membership.join(await self.store.register_node("a", time_to_live=LEASE, details=details), self.clock.now_ns)
        plans: Any = self.plans
        return MissingCodeWatch(self.store, TENANTS, membership, plans, self.read, OutageLog("a"))

    async def read(self, key: InstanceKey) -> None:
        if key.id in self.unreadable:
            raise self.unreadable[key.id]


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    found = Bench("old")
    yield found
    await found.store.close()


async def test_an_incident_is_opened_for_the_tenant_and_closed_when_the_code_is_back(bench: Bench) -> None:
    watch = await bench.open()

    await watch.check()
    assert list(await lacking_code(bench.store, "acme")) == ["old"]
    assert await missing_code(bench.store, "acme") == []
    bench.clock.advance(INCIDENT_AFTER)
    await watch.check()
    (missing,) = await missing_code(bench.store, "acme")
    assert (missing.content, missing.definition_id, missing.instances, missing.waiting) == ("old", "order", 1, ("i1",))
    assert "'price' is gone" in missing.reason
    assert "--activities shop" in missing.remedy
    assert await missing_code(bench.store, "globex") == []
    assert await lacking_code(bench.store, "initech") == {}

    bench.plans.gone.clear()
    await watch.check()
    assert await missing_code(bench.store, "acme") == []
    assert await lacking_code(bench.store, "acme") == {}
    assert bench.plans.lacking == set()


async def test_a_class_that_cannot_be_read_is_one_incident_with_its_instances(bench: Bench) -> None:
    bench.plans.gone.clear()
    watch = await bench.open()
    for name in ("i1", "i2"):
        error = StateUnreadable(name, "its field 'size' has no default", variable="item", type_name="shop:Item")
        bench.plans.obstacles.met("acme", error, content="old")

    await watch.check()
    bench.clock.advance(INCIDENT_AFTER)
    await watch.check()

    (missing,) = await missing_code(bench.store, "acme")
    assert (missing.definition_id, missing.instances, missing.waiting) == ("order", 2, ("i1", "i2"))
    for part in ("variable 'item'", "class 'shop:Item'", "field 'size'"):
        assert part in missing.reason


async def test_a_start_of_something_that_no_worker_can_run_is_an_incident(bench: Bench) -> None:
    """No instance is live: a dispatched start or a schedule waits."""
    watch = await bench.open()
    bench.plans.gone.add("v9")
    bench.plans.obstacles.met("globex", CodeMissing("report", "'price' is gone", content="v9"))

    await watch.check()
    bench.clock.advance(INCIDENT_AFTER)
    await watch.check()

    assert [item.content for item in await missing_code(bench.store, "globex")] == ["v9"]
    bench.plans.gone.clear()
    await watch.check()
    assert await missing_code(bench.store, "globex") == []


async def _open_incident(bench: Bench) -> str:
    bench.plans.gone.clear()
    watch = await bench.open()
    name = bench.plans.obstacles.met("acme", StateUnreadable("i1", "gone", type_name="shop:Item"), content="old")
    await watch.check()
    bench.clock.advance(INCIDENT_AFTER)
    await watch.check()
    assert len(await missing_code(bench.store, "acme")) == 1
    return name


async def test_a_process_that_reads_the_instances_ends_the_incident(bench: Bench) -> None:
    await _open_incident(bench)

    bench.plans = FakePlans()
    await (await bench.watch()).check()

    assert await missing_code(bench.store, "acme") == []
    assert await lacking_code(bench.store, "acme") == {}


async def test_a_process_that_cannot_read_them_either_keeps_the_incident(bench: Bench) -> None:
    name = await _open_incident(bench)

    bench.plans, bench.unreadable["i1"] = (
        FakePlans(),
        StateUnreadable("i1", "gone", type_name="shop:Item", content="old"),
    )
    await (await bench.watch()).check()

    assert [item.name for item in await missing_code(bench.store, "acme")] == [name]
    assert list(await lacking_code(bench.store, "acme")) == [name]


async def test_instances_that_are_gone_end_the_incident(bench: Bench) -> None:
    await _open_incident(bench)

    bench.plans, bench.unreadable["i1"] = FakePlans(), InstanceNotFound("i1")
    await (await bench.watch()).check()

    assert await missing_code(bench.store, "acme") == []


async def test_parked_work_that_runs_ends_the_incident(bench: Bench) -> None:
    name = await _open_incident(bench)
    bench.plans, bench.unreadable["i1"] = (
        FakePlans(),
        StateUnreadable("i1", "gone", type_name="shop:Item", content="old"),
    )
    watch = await bench.watch()
    await watch.check()

    bench.plans.obstacles.passed("acme", name)
    await watch.check()

    assert await missing_code(bench.store, "acme") == []
