"""Several tenants on one node: each facade starts, resumes, waits and recovers its own instances, even with equal ids."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from holdfast import Holdfast, Status, Workflow, activity, expr
from holdfast.activities import Delay, Event, Sequence, SetOutput
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.commit import Commit
from holdfast.model.node_details import read_details
from holdfast.model.work import Owner, WorkRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.cluster.node import Node
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.testing.clock import VirtualClock
from tests.support.node import node_on
from tests.support.probe import probe

ACME, GLOBEX = TENANTS = ("acme", "globex")
WITHIN = timedelta(seconds=20)
MINUTE = timedelta(minutes=1)


@activity
async def charge(amount: int) -> str:
    probe.calls.append(amount)
    probe.begun.set()
    await probe.gate.wait()
    return f"charged {amount}"


waiting = Workflow(
    Sequence(Event("go", result="found"), SetOutput("said", expr("found"))),
    id="waits",
    variables={"found": None},
    outputs={"said": object},
)
sleeping = Workflow(Sequence(Delay(MINUTE), SetOutput("said", "awake")), id="sleeps", outputs={"said": str})
charging = Workflow(
    Sequence(charge.bind(expr("amount"), result="said"), SetOutput("said", expr("said"))),
    id="charges",
    inputs={"amount": int},
    variables={"said": ""},
    outputs={"said": str},
)


class Tenants:
    """Two tenants on one node and one store, with a clock that the test moves."""

    def __init__(self) -> None:
        self.clock = VirtualClock(jump=False)
        self.store = MemoryStore(now=self.clock.now)
        self.engine = Holdfast(entry_points=False, clock=self.clock, activities=[charge])
        self.node = self.make_node("n")
        self.acme, self.globex = (self.facade(self.node, tenant) for tenant in TENANTS)

    def make_node(self, name: str) -> Node:
        return node_on(self.engine, self.store, name=name, tenants=TENANTS)

    def facade(self, node: Node, tenant: str) -> ManagedRuntime:
        return ManagedRuntime(node.parts, tenant, self.engine)


@pytest.fixture
async def tenants() -> AsyncIterator[Tenants]:
    probe.renew()
    made = Tenants()
    await made.node.start()
    yield made
    probe.gate.set()
    await made.node.stop()
    made.engine.close()


async def test_equal_instance_ids_are_different_instances(tenants: Tenants) -> None:
    for runtime in (tenants.acme, tenants.globex):
        assert (await runtime.start(waiting, instance_id="order")).result is not None

    resumed = await tenants.globex.resume("order", payload="two")

    assert (resumed.status, resumed.outputs) == (Status.FINISHED, {"said": "two"})
    assert (await tenants.acme.read("order")).status is Status.SUSPENDED
    assert (await tenants.acme.resume("order", payload="one")).outputs == {"said": "one"}


async def test_an_event_reaches_only_its_tenant(tenants: Tenants) -> None:
    for runtime in (tenants.acme, tenants.globex):
        await runtime.start(waiting, instance_id="order")

    await tenants.acme.stimuli.event("go", "hello", wait=WITHIN)
    await tenants.acme.settled("order")

    assert (await tenants.acme.read("order")).outputs == {"said": "hello"}
    assert (await tenants.globex.read("order")).status is Status.SUSPENDED


async def test_equal_idempotency_keys_of_events_belong_to_different_requests(tenants: Tenants) -> None:
    for runtime in (tenants.acme, tenants.globex):
        await runtime.start(waiting, instance_id="order")

    first = await tenants.acme.stimuli.event("go", 1, instance_id="order", idempotency_key="k", wait=WITHIN)
    assert not await tenants.globex.wait_settled(first.stimulus_id, timedelta(0))
    second = await tenants.globex.stimuli.event("go", 1, instance_id="order", idempotency_key="k", wait=WITHIN)

    assert first.stimulus_id == second.stimulus_id
    for runtime in (tenants.acme, tenants.globex):
        assert (await runtime.settle("order")).outputs == {"said": 1}


async def test_kept_stimuli_with_equal_ids_are_delivered_at_the_same_time(tenants: Tenants) -> None:
    for tenant in TENANTS:
        await keep(tenants, tenant, "s1")

    await asyncio.gather(*(runtime.start(waiting, instance_id="order") for runtime in (tenants.acme, tenants.globex)))

    for runtime in (tenants.acme, tenants.globex):
        async with asyncio.timeout(WITHIN.total_seconds()):
            assert (await runtime.wait_at_rest("order")).outputs == {"said": runtime.tenant}


async def keep(tenants: Tenants, tenant: str, stimulus_id: str) -> None:
    """Put a stimulus into the inbox of a tenant."""
    found = Stimulus(
        id=stimulus_id, type="Event", event_name="go", payload=None, input=tenant, correlation_id=None,
        instance_id=None, key=None, broadcast=False,
    )  # fmt: skip
    rows = tenants.node.components.inbox.rows_for(tenant, found)
    await tenants.store.commit([Commit(f"keep-{tenant}", tenant=tenant, inbox_added=rows)])
    assert work_rows.read_inbox_row(rows[0]).input == tenant


async def test_timers_fire_in_both_tenants(tenants: Tenants) -> None:
    for runtime in (tenants.acme, tenants.globex):
        await runtime.start(sleeping, instance_id="order")
    assert await tenants.node.components.poller.take_due() == 0

    tenants.clock.advance(MINUTE)

    assert await tenants.node.components.poller.take_due() == 2
    for runtime in (tenants.acme, tenants.globex):
        assert (await runtime.settle("order")).outputs == {"said": "awake"}


async def test_effects_of_all_tenants_are_taken_over_from_a_dead_node(tenants: Tenants) -> None:
    dead = tenants.make_node("dead")
    await dead.start()
    for amount, tenant in enumerate(TENANTS, 1):
        await tenants.facade(dead, tenant).start(charging, {"amount": amount}, instance_id="order")
    await tenants.store.register_node("dead", time_to_live=timedelta(0))

    assert await tenants.node.components.reaper.sweep() == 2
    probe.gate.set()

    for amount, runtime in enumerate((tenants.acme, tenants.globex), 1):
        assert (await runtime.settle("order")).outputs == {"said": f"charged {amount}"}
    await dead.stop()


async def test_the_death_of_a_node_is_noticed_by_nodes_of_each_of_its_tenants(tenants: Tenants) -> None:
    other = node_on(tenants.engine, tenants.store, name="other", tenants=(GLOBEX,))
    await other.start()
    assert not other.components.intake.in_quarantine
    owner = Owner("n", tenants.acme.membership.owner.boot)
    (row,) = [row for row in await tenants.store.list_nodes() if row.owner == owner]

    tenants.clock.advance(row.time_to_live)
    other.components.liveness.contact_since -= (
        row.time_to_live.total_seconds()
    )  # It could reach the store all that time.
    await other.components.reaper.sweep()

    assert other.components.intake.in_quarantine
    await other.stop()


async def test_the_registry_names_all_tenants_of_a_node(tenants: Tenants) -> None:
    details = read_details((await tenants.store.list_nodes())[0].details)

    assert [details.serves(tenant) for tenant in (*TENANTS, "initech")] == [True, True, False]
    await overdue(tenants.store, tenants)
    assert await tenants.globex.nodes.unserved() == []


async def overdue(store: MemoryStore, tenants: Tenants) -> None:
    """Work of the second tenant that is due for longer than the report of unserved queues allows."""
    now = tenants.clock.now()
    await store.enqueue([WorkRow(tenant=GLOBEX, id="w", kind="timer", queue="default@globex", due=now, created=now)])
    tenants.clock.advance(MINUTE)
    await tenants.node.heartbeat.beat()
