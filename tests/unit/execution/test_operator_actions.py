"""An operator moves an instance that nothing else can wake."""

from __future__ import annotations

import pytest

from holdfast import Holdfast, Status, Workflow
from holdfast.activities import Flowchart, FlowDecision, FlowJoin, WriteLine
from holdfast.errors import ExecutionError


def stuck() -> Workflow:
    """In token mode a join of all never sees the branch that the decision did not take."""
    check, yes, no = FlowDecision(True, id="check"), WriteLine("yes", id="yes"), WriteLine("no", id="no")
    join, after = FlowJoin("wait_all", id="join"), WriteLine("after", id="after")
    links = [check.on("True") >> yes, check.on("False") >> no, yes >> join, no >> join, join >> after]
    return Workflow(Flowchart(check, connections=links), id="stuck", flowchart_mode="token")


async def test_a_stuck_join_is_explained_and_can_be_scheduled() -> None:
    runner = Holdfast().runner
    waiting = await runner.run(stuck())
    assert waiting.status is Status.SUSPENDED
    assert [incident.type for incident in waiting.incidents] == ["stuck"]
    assert "'join' waits for a token from no" in waiting.incidents[0].message

    moved = await runner.schedule(waiting, "join")

    assert moved.status is Status.FINISHED
    assert moved.lines == ["yes", "after"]
    assert moved.incidents == []


@pytest.mark.parametrize("activity", ["nobody", "stuck", "workflow"])
async def test_what_cannot_be_scheduled_is_refused(activity: str) -> None:
    runner = Holdfast().runner
    waiting = await runner.run(stuck())
    with pytest.raises(ExecutionError, match=activity):
        await runner.schedule(waiting, activity)
