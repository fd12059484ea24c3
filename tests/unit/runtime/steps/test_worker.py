"""The worker of steps: it owns and launches steps of all its tenants, from the work table and from a broker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from holdfast.dispatch.local import LocalTransport
from holdfast.model.commit import Commit
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.model.ticket import Ticket
from holdfast.model.work import EffectRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.placement import Placement, step_row
from holdfast.runtime.commits.spent_rows import SpentRows
from holdfast.runtime.effects.running_effects import EffectKey
from holdfast.runtime.intake import Intake
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.plans.obstacles import Obstacles
from holdfast.runtime.queue_watch import QueueWatch
from holdfast.runtime.service import BackgroundTasks
from holdfast.runtime.steps.limits.spec import Limit
from holdfast.runtime.steps.queue_share import shares_of
from holdfast.runtime.steps.sender import StepSender
from holdfast.runtime.steps.worker import StepWorker

LEASE = timedelta(seconds=30)
TENANTS = ("acme", "globex")


class NoPlans:
    """No code is missing, and no plan is needed: the rows carry no content."""

    lacking: frozenset[str] = frozenset()
    obstacles = Obstacles(set())


class FakeEffects:
    """Effects that run until they are ended by the test."""

    def __init__(self) -> None:
        self.keys: list[EffectKey] = []
        self._changed = asyncio.Event()

    async def launch(self, row: EffectRow) -> None:
        self.keys.append((InstanceKey(row.tenant, row.instance_id), row.execution))
        self._changed.set()

    def end(self, key: EffectKey) -> None:
        self.keys.remove(key)
        self._changed.set()

    def has(self, key: EffectKey) -> bool:
        return key in self.keys

    async def wait_ended(self, key: EffectKey) -> None:
        await self._until(lambda: not self.has(key))

    async def reach(self, count: int) -> list[EffectKey]:
        await self._until(lambda: len(self.keys) >= count)
        return list(self.keys)

    async def _until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(5):
            while not is_so():
                self._changed.clear()
                await self._changed.wait()


@pytest.fixture
def effects() -> FakeEffects:
    return FakeEffects()


async def worker_on(
    store: MemoryStore, effects: FakeEffects, placement: Placement, concurrency: int, **limits: Limit
) -> StepWorker:
    membership, log, plans = Membership("a"), OutageLog("a"), NoPlans()
    membership.join(await store.register_node("a", time_to_live=LEASE), lambda: 0)
    cache: Any = InstanceCache(store)
    known: Any = plans
    running: Any = effects
    reader: Any = None
    watch = QueueWatch(store, SystemClock())
    watch.start()
    return StepWorker(
        store,
        watch,
        membership,
        Liveness(LEASE),
        Intake(),
        InstancesInHand(),
        cache,
        known,
        placement,
        StepSender(store, placement, cache, known, log, BackgroundTasks("a step could not be sent")),
        effects.launch,
        running,
        shares_of(store, membership, reader, log, TENANTS, ["mail"], limits, {}),
        concurrency,
        TENANTS,
        SpentRows(store, membership, log),
        log,
    )


async def committed(store: MemoryStore, tenant: str, name: str, *, rows: bool) -> EffectRow:
    """An instance with one open step."""
    now = await store.now()
    effect = EffectRow(name, 1, "charge", "Charge", now, queue=f"mail@{tenant}", tenant=tenant)
    instance = InstanceRow(name, 1, f"b-{name}", "running", "", "order", 1, now, now, tenant=tenant)
    work = (step_row(effect, "", now, 0),) if rows else ()
    await store.commit(
        [Commit(f"b-{name}", tenant=tenant, instance=instance, effects_added=(effect,), work_added=work)]
    )
    return effect


async def test_rows_of_all_tenants_are_taken_once_within_the_concurrency(effects: FakeEffects) -> None:
    store = MemoryStore()
    await store.open()
    for number in range(3):
        for tenant in TENANTS:
            await committed(store, tenant, f"{tenant}{number}", rows=True)
    worker = await worker_on(store, effects, Placement(), 2)
    worker.start()

    ended = set[EffectKey]()
    for _ in range(3):
        keys = await effects.reach(2)
        await asyncio.sleep(0.02)
        assert len(effects.keys) == 2
        for key in keys:
            effects.end(key)
        for key in keys:
            worker.effect_ended(key)
        ended.update(keys)

    assert len(ended) == 6
    await asyncio.sleep(0.05)
    await worker.stop()
    assert [(await store.stats(tenant)).work_ready for tenant in TENANTS] == [0, 0]
    await store.close()


async def test_a_limit_of_a_queue_counts_for_each_tenant(effects: FakeEffects) -> None:
    store = MemoryStore()
    await store.open()
    for number in range(3):
        for tenant in TENANTS:
            await committed(store, tenant, f"{tenant}{number}", rows=True)
    worker = await worker_on(store, effects, Placement(), 32, mail=Limit(concurrency=1))
    worker.start()

    await effects.reach(2)
    await asyncio.sleep(0.05)

    assert sorted(key.tenant for key, _ in effects.keys) == ["acme", "globex"]
    await worker.stop()
    await store.close()


async def test_tickets_of_a_broker_run_once_and_foreign_ones_are_dropped(effects: FakeEffects) -> None:
    store, transport = MemoryStore(), LocalTransport()
    await store.open()
    await transport.open()
    effect = await committed(store, "globex", "i1", rows=False)
    ticket = Ticket(tenant="globex", instance_id="i1", execution=1, queue=effect.queue)
    foreign = Ticket(tenant="initech", instance_id="i1", execution=1, queue=effect.queue)
    await transport.publish(effect.queue, [foreign, ticket, ticket, ticket])
    worker = await worker_on(store, effects, Placement(transport=transport), 8)
    worker.start()

    await effects.reach(1)
    await asyncio.sleep(0.02)

    assert [(key.tenant, key.id) for key, _ in effects.keys] == [("globex", "i1")]
    await worker.stop()
    await transport.close()
    await store.close()


async def test_a_carrier_waits_for_the_end_of_its_step(effects: FakeEffects) -> None:
    store = MemoryStore()
    await store.open()
    await committed(store, "acme", "i1", rows=False)
    worker = await worker_on(store, effects, Placement(), 8)
    ticket = Ticket(tenant="acme", instance_id="i1", execution=1)

    run = asyncio.create_task(worker.run_to_end(ticket))
    (key,) = await effects.reach(1)
    assert not run.done()
    effects.end(key)

    assert await run
    assert not await worker.run_to_end(ticket)  # This node owns the step already.
    assert not await worker.run_to_end(Ticket(tenant="initech", instance_id="i1", execution=1))
    await worker.stop()
    await store.close()
