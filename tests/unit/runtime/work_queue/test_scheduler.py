"""The scheduler: due schedules start instances once, missed ones follow their policy, foreign ones are left alone."""

from __future__ import annotations

from datetime import timedelta

import pytest

from holdfast import Status, Workflow
from holdfast.activities import Sequence, SetOutput, Timer
from holdfast.errors import HoldfastError
from holdfast.model.listing import InstanceFilter, InstanceQuery
from holdfast.runtime.work_queue.scheduler import MISFIRE_AFTER, Scheduler
from tests.support.memory_node import MemoryNode
from tests.support.node import node_of

HOURLY = timedelta(hours=1)


def hourly() -> Workflow:
    return Workflow(
        Sequence(Timer(HOURLY, id="tick", can_start=True), SetOutput("said", "fired")),
        id="hourly",
        outputs={"said": str},
    )


@pytest.fixture
async def published(memory: MemoryNode) -> MemoryNode:
    await memory.runtime.definitions.deploy(hourly())
    return memory


async def instances(memory: MemoryNode, tenant: str = "") -> list[str]:
    found = await memory.store.search(InstanceQuery(tenant=tenant, filter=InstanceFilter(definition_ids=("hourly",))))
    return [item.id for item in found.items]


async def due_of(memory: MemoryNode) -> object:
    (row,) = await memory.runtime.schedules.list()
    return row.due


async def test_nothing_fires_before_its_time(published: MemoryNode) -> None:
    published.clock.advance(HOURLY - timedelta(seconds=1))

    assert await published.components.scheduler.fire_due() == 0
    assert await instances(published) == []


async def test_a_due_schedule_starts_one_instance_and_moves_on(published: MemoryNode) -> None:
    published.clock.advance(HOURLY)

    assert await published.components.scheduler.fire_due() == 1

    (name,) = await instances(published)
    assert (await published.runtime.read(name)).status is Status.FINISHED
    assert await due_of(published) == published.clock.now() + HOURLY
    assert await published.components.scheduler.fire_due() == 0


async def test_two_nodes_fire_a_schedule_once(published: MemoryNode) -> None:
    other = await published.other("other")
    published.clock.advance(HOURLY)

    await published.components.scheduler.fire_due()
    await node_of(other).components.scheduler.fire_due()

    assert len(await instances(published)) == 1
    await node_of(other).stop()


async def test_missed_firings_start_one_instance(published: MemoryNode) -> None:
    started = published.clock.now()
    published.clock.advance(3 * HOURLY + MISFIRE_AFTER + timedelta(minutes=1))

    assert await published.components.scheduler.fire_due() == 1

    assert len(await instances(published)) == 1
    assert await due_of(published) == started + 4 * HOURLY


async def test_a_schedule_of_another_tenant_is_left_alone(published: MemoryNode) -> None:
    parts = published.components
    foreign = Scheduler(
        parts.store, ("globex",), parts.membership, parts.intake, parts.plans, parts.lanes, parts.calendar, parts.log
    )
    published.clock.advance(HOURLY)

    assert await foreign.fire_due() == 0
    assert await instances(published) == []


async def test_a_retracted_definition_does_not_fire(published: MemoryNode) -> None:
    (row,) = await published.store.list_schedules("")
    published.clock.advance(HOURLY)
    await published.runtime.definitions.retract("hourly")
    await published.store.put_schedules("", "hourly", [row])

    assert await published.components.scheduler.fire_due() == 0
    assert await instances(published) == []


async def test_a_start_that_fails_loses_its_firing_and_moves_on(
    published: MemoryNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*given: object) -> None:
        raise HoldfastError("The start is refused.")

    monkeypatch.setattr(Scheduler, "begin", refuse)
    published.clock.advance(HOURLY)

    assert await published.components.scheduler.fire_due() == 1
    assert await due_of(published) == published.clock.now() + HOURLY
    assert await instances(published) == []
