"""The commit of an instance: the difference between its state now and its last commit, and nothing else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Context, OnLost, Workflow, activity
from holdfast.activities import Event, ExecuteWorkflow, Parallel, PublishEvent, Sequence, SetVariable
from holdfast.execution.record import Record
from holdfast.model.commit import Commit
from holdfast.model.work import NO_OWNER, EffectRef
from holdfast.runtime.commits.jobs.control import CancelJob, RetryJob
from holdfast.runtime.commits.jobs.effect import EffectJob
from holdfast.runtime.commits.jobs.resume import ResumeJob
from holdfast.runtime.commits.placement import Placement
from tests.support.commit_pipeline import KEY, CommitPipeline, commit_pipeline


@activity
async def pay() -> str:
    return "paid"


@activity(pure=True)
def fail(context: Context) -> None:
    raise ValueError("broken")


def last(pipeline: CommitPipeline) -> Commit:
    return pipeline.store.batches[-1][-1]


async def started(root: Any, **given: Any) -> tuple[CommitPipeline, Commit]:
    pipeline = await commit_pipeline(placement=given.pop("placement", None))
    variables = given.pop("variables", {})
    await pipeline.start(Workflow(root, id="w", variables=variables), **given)
    return pipeline, last(pipeline)


def instance_of(commit: Commit) -> Any:
    assert commit.instance is not None
    return commit.instance


def resumes_parent(commit: Commit) -> list[str]:
    return [row.id for row in commit.work_added if row.kind == "resume"]


# -- instance and journal ----------------------------------------------------------------------------------------------


async def test_versions_count_up_and_the_creation_time_stays() -> None:
    pipeline, first = await started(Sequence(Event("a"), Event("b")))
    await pipeline.run(ResumeJob(KEY, "b1"))
    one, two = instance_of(first), instance_of(last(pipeline))

    assert (one.version, two.version) == (1, 2)
    assert (two.created, two.content) == (one.created, one.content)
    assert two.burst_id != one.burst_id
    assert (two.status, two.finished) == ("suspended", None)


async def test_the_journal_continues_where_the_last_commit_ended() -> None:
    pipeline, first = await started(Sequence(Event("a"), Event("b")))
    await pipeline.run(ResumeJob(KEY, "b1"))
    second = last(pipeline)

    assert first.journal is not None
    assert second.journal is not None
    assert (first.journal.first, second.journal.first) == (0, first.journal.count)


async def test_the_end_sets_the_time_once() -> None:
    pipeline, _ = await started(Sequence(Event("a"), fail.bind(id="fail")))
    await pipeline.run(ResumeJob(KEY, "b1"))
    faulted = instance_of(last(pipeline))
    await pipeline.run(CancelJob(KEY, "canceled"))
    canceled = instance_of(last(pipeline))

    assert (faulted.status, canceled.status) == ("faulted", "canceled")
    assert faulted.finished is not None
    assert canceled.finished == faulted.finished


# -- effects -----------------------------------------------------------------------------------------------------------


async def test_an_inline_effect_belongs_to_this_node() -> None:
    pipeline, commit = await started(pay.bind(id="pay", on_lost=OnLost.HOLD, timeout=timedelta(minutes=1)))
    (effect,) = commit.effects_added

    assert (effect.owner, effect.queue, effect.attempt) == (pipeline.membership.owner, "", 1)
    assert (effect.activity_id, effect.on_lost) == ("pay", "hold")
    assert effect.deadline == effect.created + timedelta(minutes=1)
    assert [row.kind for row in commit.work_added] in ([], ["timer"])


async def test_an_effect_on_a_queue_has_no_owner_and_a_step_row() -> None:
    _, commit = await started(pay.bind(id="pay", queue="gpu", priority=7))
    (effect,) = commit.effects_added
    (step,) = commit.work_added

    assert (effect.owner, effect.queue) == (NO_OWNER, "gpu")
    assert (step.kind, step.queue, step.priority, step.instance_id) == ("step", "step:gpu", 7, "i")


async def test_with_a_broker_the_commit_has_no_step_row() -> None:
    dispatcher: Any = object()
    _, commit = await started(pay.bind(id="pay"), placement=Placement(default="steps", dispatcher=dispatcher))

    assert [effect.queue for effect in commit.effects_added] == ["steps"]
    assert commit.work_added == ()


async def test_a_result_consumes_its_row_and_a_cancel_marks_it_until_its_end() -> None:
    pipeline, commit = await started(Parallel(pay.bind(id="one"), pay.bind(id="two")))
    first, second = (EffectRef(row.execution, row.attempt, row.owner) for row in commit.effects_added)
    await pipeline.execute(EffectJob(KEY, first, Record(completed=True)))
    assert last(pipeline).effects_consumed == (first,)

    await pipeline.execute(CancelJob(KEY, "canceled"))
    assert last(pipeline).effects_canceled == (second.execution,)
    assert (last(pipeline).effects_dropped, last(pipeline).effects_added) == ((), ())
    assert instance_of(last(pipeline)).status == "canceling"

    await pipeline.execute(EffectJob(KEY, second, Record(completed=True)))
    assert last(pipeline).effects_consumed == (second,)
    assert instance_of(last(pipeline)).status == "canceled"


async def test_a_terminate_drops_the_rows_of_effects_that_are_being_canceled_too() -> None:
    pipeline, commit = await started(Parallel(pay.bind(id="one"), pay.bind(id="two")))
    await pipeline.execute(CancelJob(KEY, "canceled"))
    await pipeline.execute(CancelJob(KEY, "canceled", finalize=False))

    assert set(last(pipeline).effects_dropped) == {row.execution for row in commit.effects_added}
    assert instance_of(last(pipeline)).status == "canceled"


# -- incidents and values ----------------------------------------------------------------------------------------------


async def test_incidents_are_added_and_resolved() -> None:
    pipeline, commit = await started(Sequence(fail.bind(id="fail")))
    (incident,) = commit.incidents_added
    assert (incident.activity_id, instance_of(commit).incidents) == ("fail", 1)

    await pipeline.run(RetryJob(KEY))
    again = last(pipeline)
    assert again.incidents_resolved == (incident.id,)
    assert len(again.incidents_added) == 1


async def test_large_values_are_written_once_and_dropped_with_the_last_reference() -> None:
    text = "long text " * 500
    body = Sequence(SetVariable("text", text), Event("a"), Event("b"), SetVariable("text", "short"), Event("c"))
    pipeline, commit = await started(body, variables={"text": ""})
    (value,) = commit.values_added

    await pipeline.run(ResumeJob(KEY, "b1"))
    assert (last(pipeline).values_added, last(pipeline).values_dropped) == ((), ())
    await pipeline.run(ResumeJob(KEY, "b2"))
    assert (last(pipeline).values_added, last(pipeline).values_dropped) == ((), (value.ref,))


# -- rows for other instances ------------------------------------------------------------------------------------------


async def test_a_published_event_leaves_with_its_commit_once() -> None:
    pipeline, commit = await started(Sequence(PublishEvent("paid"), Event("a"), Event("b")))
    assert [(row.id, row.kind) for row in commit.work_added] == [("i.e1.0", "stimulus")]

    await pipeline.run(ResumeJob(KEY, "b1"))
    assert last(pipeline).work_added == ()


async def test_a_local_event_does_not_leave() -> None:
    _, commit = await started(Sequence(PublishEvent("paid", local=True), Event("a")))

    assert commit.work_added == ()


async def test_a_child_is_started_by_a_row_and_canceled_with_its_parent() -> None:
    pipeline, commit = await started(Sequence(ExecuteWorkflow("child")))
    (row,) = commit.work_added
    assert row.kind == "start"

    await pipeline.run(CancelJob(KEY, "canceled"))
    canceled = last(pipeline)
    assert [(item.kind, item.instance_id) for item in canceled.work_added] == [("cancel", row.instance_id)]
    assert row.id in canceled.work_dropped


@pytest.mark.parametrize("parent", ["parent#b3", "parent", None])
async def test_a_parent_that_waits_is_notified_of_the_end(parent: str | None) -> None:
    pipeline, commit = await started(Sequence(Event("a")), parent_id=parent)
    assert resumes_parent(commit) == []

    await pipeline.run(ResumeJob(KEY, "b1"))
    assert resumes_parent(last(pipeline)) == (["i.end2"] if parent == "parent#b3" else [])
    assert instance_of(last(pipeline)).parent_id == (parent and "parent")


async def test_a_parent_that_does_not_wait_for_the_end_is_notified_of_the_begin() -> None:
    _, commit = await started(Sequence(Event("a")), parent_id="parent#b3", job={"waits": False})

    assert resumes_parent(commit) == ["i.begun"]
