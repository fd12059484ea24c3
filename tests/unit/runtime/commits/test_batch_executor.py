"""Batches: load, run, commit, publish. Nothing leaves before its commit, and a failed burst does not affect the others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence as Rows
from typing import Any

import pytest

from holdfast import Workflow, activity
from holdfast.activities import DispatchWorkflow, Event, Sequence, WriteLine
from holdfast.errors import BookmarkNotFound, InstanceNotFound, StoreError, StoreUnavailable
from holdfast.model.commit import COMMITTED, Commit, CommitOutcome, Conflict, ConflictReason, Failed
from holdfast.model.guard import idempotency_key
from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits import batch_executor as module
from holdfast.runtime.commits.burst import Burst
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.jobs.resume import ResumeJob
from holdfast.testing.store_rows import settlement, work
from tests.support.commit_pipeline import KEY, CommitPipeline, commit_pipeline

PAID = Workflow(Sequence(WriteLine("hello"), Event("paid")), id="w")


@activity
async def pay() -> str:
    return "paid"


def error_of(job: Job) -> BaseException | None:
    assert job.answer is not None
    return job.answer.exception() if job.answer.done() else None


def sends(*outcomes: CommitOutcome | Exception) -> Any:
    """A `send` that returns or raises these outcomes, and keeps the batches it was given."""
    left = list(outcomes)

    async def send(batch: Rows[Commit]) -> Rows[CommitOutcome]:
        send.batches.append([commit.burst_id for commit in batch])  # type: ignore[attr-defined]
        outcome = left.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return [outcome for _ in batch]

    send.batches = []  # type: ignore[attr-defined]
    return send


async def execute(pipeline: CommitPipeline, send: Any, *jobs: Job) -> None:
    await pipeline.executor.execute([Burst(job.key, [job]) for job in jobs], send)


# -- publish -----------------------------------------------------------------------------------------------------------


async def test_hooks_are_called_after_the_commit_and_in_order() -> None:
    pipeline = await commit_pipeline()
    all_at_once = Workflow(Sequence(DispatchWorkflow("child"), pay.bind(id="pay")), id="w")
    await pipeline.start(all_at_once)

    assert [call[0] for call in pipeline.calls] == ["start_effects", "send_steps", "take_work"]
    ((row,),) = [call[1] for call in pipeline.calls if call[0] == "take_work"]
    assert row.kind == "start"


async def test_new_bookmarks_are_matched_with_stimuli_that_arrived_earlier() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)

    ((name, rows),) = pipeline.calls
    assert (name, [row.seq for row in rows]) == ("bookmarks_added", [1])


async def test_the_end_of_an_instance_is_published() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(Workflow(Sequence(WriteLine("hello")), id="w"))

    assert pipeline.calls == [("instance_ended", KEY)]
    assert pipeline.cache.get(KEY) is None


async def test_the_answer_has_the_version_and_the_lines() -> None:
    pipeline, heard = await commit_pipeline(), list[str]()
    pipeline.lines.listen(KEY, heard.append)
    answer = await pipeline.start(PAID)

    assert (answer.version, heard) == (1, ["hello"])
    assert answer.result is not None
    assert answer.result.lines == ["hello"]


async def test_a_job_without_a_change_is_answered_as_dropped() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    pipeline.cache.forget(KEY)
    answer = await pipeline.run(ResumeJob(KEY, "b9", is_hint=True))

    assert (answer.dropped, answer.version) == (True, 0)
    assert len(pipeline.store.batches) == 1


async def test_the_row_of_a_hint_without_a_change_is_consumed() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    await pipeline.store.commit([settlement("", work_added=(work("", id="w"),))])
    pipeline.cache.forget(KEY)
    await pipeline.run(ResumeJob(KEY, "b9", is_hint=True, consumes_work="w"))

    assert pipeline.store.tables.work == {}
    assert (await pipeline.row()).version == 1


# -- load --------------------------------------------------------------------------------------------------------------


async def test_a_committed_instance_is_not_loaded_again() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    await pipeline.run(ResumeJob(KEY, "b1"))

    assert pipeline.store.loads == []
    assert (await pipeline.row()).status == "finished"


async def test_a_job_that_decides_by_the_stored_state_is_loaded() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    job = ResumeJob(KEY, "b1")
    job.from_store = True
    await pipeline.run(job)

    assert pipeline.store.loads == [[KEY]]


async def test_a_missing_instance_fails_only_its_own_jobs() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    lost, found = ResumeJob(InstanceKey("", "gone"), "b1"), ResumeJob(KEY, "b1")
    await pipeline.execute(lost, found)

    assert isinstance(error_of(lost), InstanceNotFound)
    assert found.answer is not None
    assert found.answer.result().version == 2


async def test_a_cached_row_refuses_nothing() -> None:
    """Another node may have committed since: the job is decided by the stored row."""
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    job = ResumeJob(KEY, "b9")
    await pipeline.execute(job)
    assert (pipeline.submitted, job.from_store, error_of(job)) == ([job], True, None)

    await pipeline.execute(job)
    assert isinstance(error_of(job), BookmarkNotFound)


async def test_a_batch_that_cannot_be_loaded_fails_its_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = await commit_pipeline()

    async def load(keys: Any) -> Any:
        raise StoreUnavailable("no connection")

    monkeypatch.setattr(pipeline.store, "load", load)
    job = ResumeJob(KEY, "b1")
    await pipeline.execute(job)

    assert isinstance(error_of(job), StoreUnavailable)


# -- commit ------------------------------------------------------------------------------------------------------------


async def test_a_stale_cached_row_is_a_conflict_and_the_job_is_retried() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    stale = pipeline.cache.get(KEY)
    assert stale is not None
    await pipeline.run(ResumeJob(KEY, "b1"))
    pipeline.cache.keep(KEY, stale)
    pipeline.calls.clear()
    job = ResumeJob(KEY, "b1")
    await pipeline.execute(job)

    assert (pipeline.submitted, job.tries, pipeline.calls) == ([job], 1, [])
    assert pipeline.cache.get(KEY) is None


async def test_a_second_start_with_the_same_key_gets_the_first_instance() -> None:
    pipeline = await commit_pipeline()
    guards = (idempotency_key(operation="start", target="w", key="k"),)
    await pipeline.start(PAID, "first", job={"guards": guards})
    answer = await pipeline.start(PAID, "second", job={"guards": guards})

    assert (answer.existing, answer.result) == ("first", None)
    assert InstanceKey("", "second") not in pipeline.store.tables.instances


async def test_nothing_of_a_lost_commit_is_published() -> None:
    pipeline = await commit_pipeline()
    job = await pipeline.start_job(PAID)
    await execute(pipeline, sends(Conflict(reason=ConflictReason.VERSION)), job)

    assert (pipeline.calls, pipeline.submitted) == ([], [job])
    assert pipeline.cache.get(KEY) is None


async def test_a_commit_that_the_store_refuses_fails_its_jobs() -> None:
    pipeline = await commit_pipeline()
    job = await pipeline.start_job(PAID)
    await execute(pipeline, sends(Failed(StoreError("too large"))), job)

    assert isinstance(error_of(job), StoreError)
    assert pipeline.calls == []


async def test_a_commit_of_unknown_outcome_is_sent_again_until_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller has its error; the effect of the commit must still start exactly once."""
    monkeypatch.setattr(module, "RESEND_SECONDS", 0)
    pipeline = await commit_pipeline()
    job = await pipeline.start_job(PAID)
    send = sends(StoreUnavailable("no connection"), StoreUnavailable("no connection"), COMMITTED)
    await execute(pipeline, send, job)

    assert isinstance(error_of(job), StoreUnavailable)
    assert len(send.batches) == 3
    assert len({tuple(batch) for batch in send.batches}) == 1
    assert [call[0] for call in pipeline.calls] == ["bookmarks_added"]


async def test_large_states_are_committed_in_batches_of_limited_size(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = await commit_pipeline()
    jobs = [await pipeline.start_job(PAID, name) for name in "abc"]
    monkeypatch.setattr(module, "BATCH_BYTES_MAX", 300)
    await pipeline.execute(*jobs)

    sizes = [[len(commit.instance.state) for commit in batch if commit.instance] for batch in pipeline.store.batches]
    assert sum(map(len, sizes)) == 3
    assert len(sizes) > 1
    assert all(len(batch) == 1 or sum(batch) <= 300 for batch in sizes)


async def test_jobs_of_one_instance_are_one_commit() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(Workflow(Sequence(Event("paid"), Event("shipped"), Event("closed")), id="w"))
    first, second = ResumeJob(KEY, "b1"), ResumeJob(KEY, "b2")
    await pipeline.execute(first, second)

    assert len(pipeline.store.batches) == 2
    assert (await pipeline.row()).version == 2
    answers = await asyncio.gather(*(job.answer for job in (first, second) if job.answer))
    assert [answer.version for answer in answers] == [2, 2]
