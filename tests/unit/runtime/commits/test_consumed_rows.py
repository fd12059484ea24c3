"""Rows that the jobs of a burst consume: one job, fast or general path, and the union of several jobs."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Holdfast, Workflow
from holdfast.activities import Sequence
from holdfast.execution.record import Record
from holdfast.model.guard import idempotency_key
from holdfast.model.stored import InstanceKey
from holdfast.model.tasks import Task
from holdfast.model.work import EffectRef, Owner, ScheduleStep
from holdfast.runtime.commits.baseline import NOTHING, Consumed
from holdfast.runtime.commits.consumed_rows import consumed_rows
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.jobs.dispatch import BeginJob
from holdfast.runtime.commits.jobs.effect import EffectJob
from holdfast.runtime.commits.jobs.mail import MailJob
from holdfast.runtime.commits.jobs.resume import ResumeJob
from holdfast.runtime.commits.jobs.start import PendingJob, Start, StartJob
from holdfast.runtime.commits.jobs.task import ClaimTask, CompleteTask
from holdfast.testing.store_rows import AT, later, work

I = InstanceKey("", "i")
GUARD = idempotency_key(operation="start", target="order", key="k")
STEP = ScheduleStep("daily", AT, later(60))
REF = EffectRef(3, 1, Owner("n", 1))


def start() -> Start:
    plan = Holdfast(entry_points=False).plan(Workflow(Sequence(), id="w"))
    return Start(key=I, plan=plan, content="c")


def effect_job(*, counted: bool = True, **more: Any) -> EffectJob:
    job = EffectJob(I, REF, Record(), **more)
    job.consumes_effect = REF if counted else None
    return job


def completed_task() -> CompleteTask:
    job = CompleteTask(I, "t", "ann", None)
    job.bookmark_id, job.closed = "b1", Task(id="t", title="T")
    return job


async def test_a_start_without_rows_consumes_nothing() -> None:
    assert consumed_rows([StartJob(start())]) is NOTHING
    assert consumed_rows([effect_job(counted=False)]) is NOTHING


async def test_a_resume_consumes_its_bookmark_and_its_row() -> None:
    assert consumed_rows([ResumeJob(I, "b1")]) == Consumed(bookmarks=("b1",))
    assert consumed_rows([ResumeJob(I, "b1", consumes_work="w")]) == Consumed(work=("w",), bookmarks=("b1",))


async def test_a_result_consumes_its_effect() -> None:
    assert consumed_rows([effect_job()]) == Consumed(effects=(REF,))
    assert consumed_rows([effect_job(consumes_work="w")]) == Consumed(work=("w",), effects=(REF,))


async def test_guards_and_schedules_are_not_lost_on_the_fast_path() -> None:
    assert consumed_rows([StartJob(start(), (GUARD,))]) == Consumed(guards=(GUARD,))
    assert consumed_rows([StartJob(start(), schedule_step=STEP)]) == Consumed(schedules=(STEP,))
    assert consumed_rows([StartJob(start(), consumes_work="w")]) == Consumed(work=("w",))
    assert consumed_rows([ResumeJob(I, "b1", guards=(GUARD,))]) == Consumed(guards=(GUARD,), bookmarks=("b1",))


def mail_job(bookmark_id: str, **more: Any) -> MailJob:
    """As it is after it has delivered one kept stimulus."""
    job = MailJob(I, [], **more)
    job.resumes, job.consumes_inbox = (bookmark_id,), ("s",)
    return job


async def test_subclasses_take_the_general_path() -> None:
    begins = work("")
    assert consumed_rows([mail_job("b1")]) == Consumed(bookmarks=("b1",), inbox=("s",))
    assert consumed_rows([PendingJob(start(), begins)]) == Consumed(work_added=(begins,))
    assert consumed_rows([BeginJob(I, drops_work=("x",))]) == Consumed(work_dropped=("x",))


async def test_a_completed_task_is_closed_with_its_bookmark() -> None:
    job = completed_task()

    assert consumed_rows([job]).closed == (("b1", job.closed),)
    assert consumed_rows([ClaimTask(I, "t", "ann", None)]).closed == ()


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
async def test_rows_of_several_jobs_are_one_union_without_duplicates(order: tuple[int, ...]) -> None:
    jobs: list[Job] = [
        ResumeJob(I, "b1", consumes_work="w"),
        ResumeJob(I, "b1", consumes_work="w", guards=(GUARD,)),
        mail_job("b2", consumes_work="v"),
    ]
    found = consumed_rows([jobs[index] for index in order])

    assert sorted(found.work) == ["v", "w"]
    assert sorted(found.bookmarks) == ["b1", "b2"]
    assert (found.guards, found.inbox) == ((GUARD,), ("s",))


async def test_a_single_job_and_the_union_say_the_same() -> None:
    """The fast path of one job must not differ from the general union."""
    jobs: list[Job] = [ResumeJob(I, "b1", consumes_work="w"), effect_job(), StartJob(start()), completed_task()]
    for job in jobs:
        alone, twice = consumed_rows([job]), consumed_rows([job, StartJob(start())])
        assert alone == twice
