"""Bursts: jobs of one instance on one state. A job that fails is taken out, and the others run again without it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from holdfast import Workflow, expr
from holdfast.activities import Event, Sequence, SetVariable, While, WriteLine
from holdfast.errors import BookmarkNotFound, InvalidState
from holdfast.execution.live import LiveInstance
from holdfast.execution.segment import Limits
from holdfast.model.definition import DefinitionOptions
from holdfast.model.listing import InstanceFilter
from holdfast.runtime.commits.burst import Burst
from holdfast.runtime.commits.jobs.base import DROPPED, Job
from holdfast.runtime.commits.jobs.control import ContinueJob
from holdfast.runtime.commits.jobs.resume import ResumeJob
from tests.support.commit_pipeline import KEY, CommitPipeline, commit_pipeline

THREE = Workflow(Sequence(Event("a"), Event("b"), Event("c")), id="w")


class Broken(Job):
    """Fails after it has changed the instance."""

    def apply(self, live: LiveInstance) -> bool:
        live.name = "changed"
        raise ZeroDivisionError("a bug")


class OnlyFaulted(ResumeJob):
    condition = InstanceFilter(statuses=("faulted",))


async def suspended(pipeline: CommitPipeline, workflow: Workflow = THREE, *, cached: bool = False) -> None:
    await pipeline.start(workflow)
    if not cached:
        pipeline.cache.forget(KEY)


def result(job: Job) -> Any:
    assert job.answer is not None
    assert job.answer.done()
    return job.answer.result()


async def test_a_failed_job_leaves_no_trace_in_the_commit_of_the_others() -> None:
    pipeline = await commit_pipeline()
    await suspended(pipeline)
    before, broken, after = ResumeJob(KEY, "b1"), Broken(KEY), ResumeJob(KEY, "b2")
    await pipeline.execute(before, broken, after)

    with pytest.raises(ZeroDivisionError):
        result(broken)
    row = await pipeline.row()
    assert (row.version, row.name) == (2, None)
    assert [result(job).version for job in (before, after)] == [2, 2]


async def test_a_refused_job_is_left_out() -> None:
    pipeline = await commit_pipeline()
    await suspended(pipeline)
    refused, fine = ResumeJob(KEY, "b9"), ResumeJob(KEY, "b1")
    await pipeline.execute(refused, fine)

    with pytest.raises(BookmarkNotFound):
        result(refused)
    assert result(fine).version == 2


async def test_a_commit_that_cannot_be_built_takes_out_its_last_job(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = await commit_pipeline()
    await suspended(pipeline)
    build, failures = pipeline.builder.commit, [ValueError("not storable")]

    def fail_once(*args: Any, **more: Any) -> Any:
        if failures:
            raise failures.pop()
        return build(*args, **more)

    monkeypatch.setattr(pipeline.builder, "commit", fail_once)
    fine, last = ResumeJob(KEY, "b1"), ResumeJob(KEY, "b2")
    await pipeline.execute(fine, last)

    with pytest.raises(ValueError, match="not storable"):
        result(last)
    assert result(fine).version == 2


async def test_a_segment_that_is_cut_leaves_a_continue_row_and_the_other_jobs() -> None:
    pipeline = await commit_pipeline(limits=Limits(activities=200))
    counting = While(expr("n < 1000"), SetVariable("n", expr("n + 1")))
    await suspended(pipeline, Workflow(Sequence(Event("a"), counting), id="w", variables={"n": 0}))
    first, second = ResumeJob(KEY, "b1"), ContinueJob(KEY)
    await pipeline.execute(first, second)

    (row,) = pipeline.store.tables.work.values()
    assert (row.id, row.kind) == ("i.c2", "continue")
    assert result(first).version == 2
    assert pipeline.submitted == [second]


async def test_a_start_of_an_instance_that_exists_is_answered_with_it() -> None:
    pipeline = await commit_pipeline()
    first, second = await pipeline.start_job(THREE), await pipeline.start_job(THREE)
    await pipeline.execute(first, second)

    assert (result(first).existing, result(second).existing) == (None, "i")


async def test_an_instance_that_does_not_match_the_filter_stays_unchanged() -> None:
    pipeline = await commit_pipeline()
    await suspended(pipeline)
    job = OnlyFaulted(KEY, "b1")
    await pipeline.execute(job)

    assert result(job) is DROPPED
    assert (await pipeline.row()).version == 1


async def test_a_hint_that_finds_nothing_in_a_cached_row_is_decided_by_the_stored_row() -> None:
    pipeline = await commit_pipeline()
    await suspended(pipeline, cached=True)
    hint = ResumeJob(KEY, "b9", is_hint=True)
    await pipeline.execute(hint)

    assert (pipeline.submitted, hint.from_store) == ([hint], True)
    assert hint.answer is not None
    assert not hint.answer.done()


async def test_a_state_that_cannot_be_read_fails_every_job() -> None:
    pipeline = await commit_pipeline()
    await suspended(pipeline)
    instances = pipeline.store.tables.instances
    instances[KEY] = replace(instances[KEY], state=b"\xc1")
    jobs = [ResumeJob(KEY, "b1"), ResumeJob(KEY, "b2")]
    await pipeline.execute(*jobs)

    for job in jobs:
        with pytest.raises(InvalidState, match="damaged"):
            result(job)


async def test_a_transient_workflow_that_ends_at_once_stores_nothing() -> None:
    pipeline = await commit_pipeline()
    options = DefinitionOptions(transient=True)
    answer = await pipeline.start(Workflow(Sequence(WriteLine("hello")), id="w", options=options))

    assert answer.result is not None
    assert (answer.result.lines, answer.version) == (["hello"], 0)
    assert pipeline.store.batches == []


async def test_a_transient_workflow_that_waits_is_stored() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(Workflow(Sequence(Event("a")), id="w", options=DefinitionOptions(transient=True)))

    assert (await pipeline.row()).status == "suspended"


async def test_jobs_that_a_burst_does_not_contain_are_left() -> None:
    first, second = ResumeJob(KEY, "b1"), ResumeJob(KEY, "b2")
    burst = Burst(KEY, [first, second])
    burst.applied = [first]

    assert burst.left == [second]
    burst.leave_out(first)
    assert (burst.jobs, burst.applied, burst.unsure) == ([second], [], [])
