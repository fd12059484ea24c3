"""Task records: open with their bookmark, completed by an answer, canceled if the workflow continues without one."""

from __future__ import annotations

from typing import Any

from holdfast import Workflow
from holdfast.activities import Event, HumanTask, Parallel, RunTask, Sequence
from holdfast.execution import delivery
from holdfast.execution.segment import Limits, run_segment
from holdfast.model.tasks import TaskState, task_of
from holdfast.runtime.commits.baseline import NEW, NOTHING, Consumed, baseline_of
from holdfast.runtime.commits.jobs.task import ClaimTask, CompleteTask
from holdfast.runtime.commits.task_rows import find_task, task_at, task_records
from holdfast.testing.store_rows import AT, instance
from tests.support.commit_pipeline import KEY, begun

APPROVE = Workflow(Sequence(HumanTask("Approve", role="bosses", id="ask"), Event("end")), id="w")


def baseline(live: Any) -> Any:
    return baseline_of(live, instance("i", state=b"\x90"))


def tasks(live: Any, before: Any = NEW, consumed: Consumed = NOTHING) -> list[Any]:
    return [task_of(row) for row in task_records("", live, before, consumed, AT)]


def task_id(live: Any) -> str:
    (task,) = tasks(live)
    return str(task.id)


def test_a_new_task_is_open() -> None:
    live = begun(APPROVE)
    (row,) = task_records("acme", live, NEW, NOTHING, AT)

    assert (row.tenant, row.state, row.owner, row.instance_id) == ("acme", "open", "role:bosses", "i")
    assert (task_of(row).title, task_of(row).activity_id, task_of(row).definition_id) == ("Approve", "ask", "w")


def test_a_task_that_did_not_change_is_not_written_again() -> None:
    live = begun(APPROVE)

    assert tasks(live, baseline(live)) == []


async def test_a_claimed_task_is_written_again() -> None:
    live = begun(APPROVE)
    before = baseline(live)
    ClaimTask(KEY, task_id(live), "ann", None).apply(live)
    (found,) = tasks(live, before)

    assert (found.state, found.claimed_by) == (TaskState.CLAIMED, "ann")


async def test_an_answered_task_is_completed_with_its_answer() -> None:
    live = begun(APPROVE)
    before = baseline(live)
    job = CompleteTask(KEY, task_id(live), "ann", None, {"ok": True})
    job.apply(live)
    run_segment(live, Limits())
    assert job.closed is not None
    (found,) = tasks(live, before, Consumed(bookmarks=("b1",), closed=(("b1", job.closed),)))

    assert (found.state, found.completed_by, found.answer) == (TaskState.COMPLETED, "ann", {"ok": True})


def test_a_task_that_was_resumed_without_an_answer_is_completed() -> None:
    live = begun(APPROVE)
    before = baseline(live)
    delivery.resume(live, "b1", {"ok": True})
    run_segment(live, Limits())
    (found,) = tasks(live, before, Consumed(bookmarks=("b1",)))

    assert (found.state, found.completed_by) == (TaskState.COMPLETED, None)


def test_a_task_whose_workflow_ended_is_canceled() -> None:
    live = begun(APPROVE)
    before = baseline(live)
    delivery.cancel(live)
    run_segment(live, Limits())
    (found,) = tasks(live, before)

    assert found.state is TaskState.CANCELED


def test_a_task_for_a_program_is_a_task_too() -> None:
    live = begun(Workflow(Sequence(RunTask("resize", {"width": 7}, id="run")), id="w"))
    (found,) = tasks(live)

    assert (found.title, found.name, found.about) == ("resize", "resize", {"width": 7})
    located = find_task(live, found.id)
    assert located is not None
    assert located[0].id == "b1"


def test_other_bookmarks_are_no_tasks() -> None:
    live = begun(Workflow(Parallel(Event("a"), HumanTask("Approve")), id="w"))

    assert [task_at(live, mark) is not None for mark in live.bookmarks.values()] == [False, True]
    assert find_task(live, "other") is None
