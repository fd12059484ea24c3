"""Jobs on human tasks: who may act, what the task becomes, and the answer that resumes the workflow."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Status, Workflow
from holdfast.activities import HumanTask, Sequence
from holdfast.errors import AnswerRefused, TaskClosed, TaskNotYours, TaskTaken
from holdfast.execution.segment import Limits, run_segment
from holdfast.model.instance import JournalEvent
from holdfast.model.tasks import TaskState
from holdfast.runtime.commits.jobs.task import ClaimTask, CompleteTask, ReleaseTask, TaskJob
from holdfast.runtime.commits.task_rows import task_at
from tests.support.commit_pipeline import KEY, begun

FORM = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
BOSSES = frozenset({"bosses"})


def asking() -> tuple[Any, str]:
    """An instance with an open task for the role `bosses`, and the id of the task."""
    live = begun(Workflow(Sequence(HumanTask("Approve", role="bosses", form=FORM, id="ask")), id="w"))
    return live, task(live).id


def task(live: Any) -> Any:
    (mark,) = live.bookmarks.values()
    return task_at(live, mark)


def verbs(live: Any) -> list[tuple[str, str]]:
    return [(entry[4]["verb"], entry[4]["who"]) for entry in live.journal if entry[0] == JournalEvent.OPERATED]


async def test_a_member_of_the_role_claims_the_task_once() -> None:
    live, task_id = asking()

    assert ClaimTask(KEY, task_id, "ann", BOSSES).apply(live)
    assert not ClaimTask(KEY, task_id, "ann", BOSSES).apply(live)
    assert (task(live).state, task(live).claimed_by) == (TaskState.CLAIMED, "ann")
    assert verbs(live) == [("claim task", "ann")]


@pytest.mark.parametrize("job", [ClaimTask, ReleaseTask, CompleteTask])
async def test_other_roles_may_not_act(job: type[TaskJob]) -> None:
    live, task_id = asking()

    with pytest.raises(TaskNotYours, match="the role 'bosses'"):
        job(KEY, task_id, "bob", frozenset({"clerks"}), {"ok": True}).apply(live)
    assert verbs(live) == []


async def test_a_permission_that_the_caller_checked_is_not_checked_again() -> None:
    live, task_id = asking()

    assert ClaimTask(KEY, task_id, "bob", None).apply(live)


@pytest.mark.parametrize("job", [ClaimTask, ReleaseTask, CompleteTask])
async def test_a_claimed_task_belongs_to_one_person(job: type[TaskJob]) -> None:
    live, task_id = asking()
    ClaimTask(KEY, task_id, "ann", BOSSES).apply(live)

    with pytest.raises(TaskTaken, match="ann"):
        job(KEY, task_id, "eve", BOSSES, {"ok": True}).apply(live)


async def test_a_released_task_is_open_for_others() -> None:
    live, task_id = asking()
    assert not ReleaseTask(KEY, task_id, "ann", BOSSES).apply(live)

    ClaimTask(KEY, task_id, "ann", BOSSES).apply(live)
    assert ReleaseTask(KEY, task_id, "ann", BOSSES).apply(live)
    assert (task(live).state, task(live).claimed_by) == (TaskState.OPEN, None)
    assert ClaimTask(KEY, task_id, "eve", BOSSES).apply(live)


async def test_the_answer_completes_the_task_and_resumes_the_workflow() -> None:
    live, task_id = asking()
    job = CompleteTask(KEY, task_id, "ann", BOSSES, {"ok": True})

    assert job.apply(live)
    run_segment(live, Limits())
    assert live.status is Status.FINISHED
    assert job.closed is not None
    assert (job.closed.state, job.closed.completed_by, job.closed.answer) == (TaskState.COMPLETED, "ann", {"ok": True})
    assert job.bookmark_id == "b1"
    assert verbs(live) == [("complete task", "ann")]


async def test_an_answer_that_does_not_fit_the_form_is_refused() -> None:
    live, task_id = asking()

    with pytest.raises(AnswerRefused):
        CompleteTask(KEY, task_id, "ann", BOSSES, {"ok": "perhaps"}).apply(live)
    assert task(live).state is TaskState.OPEN


async def test_a_task_that_is_answered_is_closed() -> None:
    live, task_id = asking()
    job = CompleteTask(KEY, task_id, "ann", BOSSES, {"ok": True})
    job.apply(live)
    run_segment(live, Limits())

    with pytest.raises(TaskClosed):
        job.apply(live)
    assert (job.closed, job.bookmark_id) == (None, "")


async def test_an_unknown_task_is_closed() -> None:
    with pytest.raises(TaskClosed):
        ClaimTask(KEY, "other", "ann", BOSSES).apply(asking()[0])
