"""The result of a run: a value with outputs, variables, bookmarks and the state to continue from."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast import Holdfast, Runner, Status, Workflow
from holdfast.activities import Event, ExecuteWorkflow, Sequence, SetOutput

waiting = Workflow(
    Sequence(SetOutput("said", "hello"), Event("go", id="wait")),
    id="waits",
    variables={"limit": 3},
    outputs={"said": str, "later": str},
)


async def test_outputs_that_are_not_set_are_left_out(runner: Runner) -> None:
    result = await runner.run(waiting, correlation_id="c")

    assert (result.status, result.correlation_id, result.commits) == (Status.SUSPENDED, "c", result._live.commits)
    assert result.outputs == {"said": "hello"}
    assert result.variables["limit"] == 3
    assert result.definition.id == "waits"


async def test_a_bookmark_is_found_by_its_activity(runner: Runner) -> None:
    result = await runner.run(waiting)

    assert result.bookmark("wait").activity_id == "wait"
    with pytest.raises(LookupError, match="waiting: wait"):
        result.bookmark("nothing")


async def test_a_result_is_a_value(runner: Runner) -> None:
    before = await runner.run(waiting)
    state = before.state

    after = await runner.resume(before, before.bookmark("wait").id)

    assert (before.status, after.status) == (Status.SUSPENDED, Status.FINISHED)
    assert before.state is state
    assert (len(before.bookmarks), after.bookmarks) == (1, [])
    assert repr(after) == f"<RunResult {after.instance_id} finished>"


async def test_bookmarks_of_children_name_the_child(make_engine: Callable[..., Holdfast]) -> None:
    runner = make_engine(definitions=[Workflow(Event("go"), id="child")]).runner

    result = await runner.run(Workflow(ExecuteWorkflow("child", wait=True), id="parent"))

    (child,) = result.children.values()
    assert [item.id for item in result.bookmarks] == [f"{child.instance_id}/b1"]
