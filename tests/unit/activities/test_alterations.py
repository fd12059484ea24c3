"""Alteration activities without a store."""

from __future__ import annotations

from holdfast import Runner, Status, Workflow
from holdfast.activities import AlterationPlanCompleted, SubmitAlterationPlan


async def test_a_runner_has_no_instances_to_alter(runner: Runner) -> None:
    flow = Workflow(SubmitAlterationPlan([{"type": "cancel"}], instance_ids=["a"]), id="w")

    result = await runner.run(flow)

    assert result.status is Status.FAULTED
    assert "store" in result.incidents[0].message


async def test_the_end_of_a_plan_is_a_wait_with_its_id(runner: Runner) -> None:
    flow = Workflow(AlterationPlanCompleted("p", result="told"), id="w", variables={"told": None})

    waiting = await runner.run(flow)
    ended = await runner.resume(waiting, None, {"altered": 1})

    assert [(mark.name, mark.payload) for mark in waiting.bookmarks] == [("AlterationPlanCompleted", {"plan_id": "p"})]
    assert ended.variables == {"told": {"altered": 1}}
