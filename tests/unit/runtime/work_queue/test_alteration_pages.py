"""Pages of alteration plans: progress and the next page in one commit, each instance once."""

from __future__ import annotations

import pytest

from holdfast import Workflow
from holdfast.activities import Event
from holdfast.model.alterations import ALTERATION, AlterationPlan, ModifyVariable, PlanState, plan_of, record_of
from holdfast.model.listing import InstanceFilter
from holdfast.model.work import WorkKind, WorkRow
from holdfast.runtime.commits.plan_rows import Page, page_row
from holdfast.runtime.work_queue import alteration_pages
from tests.support.memory_node import MemoryNode

waiting = Workflow(Event("go"), id="waits", variables={"limit": 1})
SET_LIMIT = ModifyVariable(variable="limit", value=5)


@pytest.fixture
async def planned(memory: MemoryNode, monkeypatch: pytest.MonkeyPatch) -> MemoryNode:
    """Three instances, pages of two, and a plan; pages are executed only by the test."""
    monkeypatch.setattr(alteration_pages, "PAGE", 2)
    memory.runtime.intake.paused = True
    for name in ("a", "b", "c"):
        await memory.runtime.start(waiting, instance_id=name)
    now = memory.clock.now()
    plan = AlterationPlan(
        id="p", filter=InstanceFilter(), alterations=(SET_LIMIT,), who="ada", created=now, updated=now
    )
    await memory.store.put_record(record_of(plan, ""))
    await memory.store.enqueue([page_row("", Page(plan="p"), now)])
    return memory


async def plan_in(memory: MemoryNode) -> AlterationPlan:
    record = await memory.store.get_record("", ALTERATION, "p")
    assert record is not None
    return plan_of(record)


async def pages(memory: MemoryNode) -> list[WorkRow]:
    async with memory.store.claim(["default"], 10) as claim:
        return [row for row in claim.rows if row.kind == WorkKind.ALTERATION]


async def limits(memory: MemoryNode) -> list[object]:
    return [(await memory.runtime.read(name)).variables["limit"] for name in ("a", "b", "c")]


async def test_a_page_commits_its_progress_and_the_next_page(planned: MemoryNode) -> None:
    (first,) = await pages(planned)
    await planned.components.alterations.execute(first)

    plan, (second,) = await plan_in(planned), await pages(planned)
    assert (plan.state, plan.altered, await limits(planned)) == (PlanState.RUNNING, 2, [5, 5, 1])
    assert second.id == "alteration.p.1"

    await planned.components.alterations.execute(second)

    plan = await plan_in(planned)
    assert (plan.state, plan.altered, plan.failed, await limits(planned)) == (PlanState.COMPLETED, 3, 0, [5, 5, 5])
    assert await pages(planned) == []


async def test_a_page_that_is_done_is_not_executed_again(planned: MemoryNode) -> None:
    (first,) = await pages(planned)
    await planned.components.alterations.execute(first)
    version = (await planned.runtime.row("a")).version

    await planned.components.alterations.execute(first)

    assert ((await plan_in(planned)).altered, (await planned.runtime.row("a")).version) == (2, version)


async def test_an_instance_that_cannot_be_altered_is_reported(planned: MemoryNode) -> None:
    now = planned.clock.now()
    broken = AlterationPlan(
        id="q",
        filter=InstanceFilter(),
        alterations=(ModifyVariable(variable="nothing", value=1),),
        who="ada",
        created=now,
        updated=now,
    )
    await planned.store.put_record(record_of(broken, ""))

    row = page_row("", Page(plan="q"), now)
    await planned.store.enqueue([row])
    await planned.components.alterations.execute(row)

    record = await planned.store.get_record("", ALTERATION, "q")
    assert record is not None
    plan = plan_of(record)
    assert (plan.altered, plan.failed, [item.instance_id for item in plan.failures]) == (0, 2, ["a", "b"])
    assert "nothing" in plan.failures[0].reasons[0]
    assert await limits(planned) == [1, 1, 1]


async def test_the_row_of_a_deleted_plan_is_deleted(planned: MemoryNode) -> None:
    (first,) = await pages(planned)
    await planned.store.delete_record("", ALTERATION, "p")

    await planned.components.alterations.execute(first)
    await planned.components.spent.wait()

    assert (await pages(planned), await limits(planned)) == ([], [1, 1, 1])
