"""The job: one answer, and the default policy for conflicts and failures."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import InstanceNotFound, KeyReused, StoreError
from holdfast.model.commit import Conflict, ConflictReason
from holdfast.model.guard import idempotency_key
from holdfast.model.work import EffectRef, Owner, ScheduleStep
from holdfast.runtime.commits.jobs.base import DROPPED, Answer, Job
from holdfast.testing.store_rows import AT, later
from tests.support.commit_pipeline import KEY, RecordedRetries

GUARD = idempotency_key(operation="start", target="order", key="k")


class Hint(Job):
    is_hint = True


def result(job: Job) -> Any:
    assert job.answer is not None
    assert job.answer.done()
    return job.answer.result()


def conflict(job: Job, reason: ConflictReason, **fields: Any) -> list[tuple[Any, ...]]:
    retries = RecordedRetries()
    job.on_conflict(Conflict(reason=reason, **fields), retries)
    return retries.calls


# -- the answer --------------------------------------------------------------------------------------------------------


async def test_the_first_answer_counts() -> None:
    finished, refused = Job(KEY), Job(KEY)
    finished.finish(Answer(version=1))
    finished.refuse(ValueError("too late"))
    refused.refuse(ValueError("first"))
    refused.finish(Answer())

    assert result(finished).version == 1
    with pytest.raises(ValueError, match="first"):
        result(refused)


async def test_a_caller_that_has_gone_is_not_answered() -> None:
    job = Job(KEY)
    assert job.answer is not None
    job.answer.cancel()
    job.finish(Answer())
    job.refuse(ValueError("broken"))

    assert job.answer.cancelled()


@pytest.mark.parametrize("error", [None, ValueError("broken")])
def test_a_job_of_a_row_calls_back_once(error: Exception | None) -> None:
    """Such a job needs no event loop."""
    job, told = Job(KEY, wants_answer=False), list[BaseException | None]()
    job.on_done = told.append
    for _ in range(2):
        job.finish(Answer()) if error is None else job.refuse(error)

    assert told == [error]


# -- conflicts ---------------------------------------------------------------------------------------------------------


async def test_a_version_conflict_is_retried() -> None:
    job = Job(KEY, consumes_work="w")

    assert conflict(job, ConflictReason.VERSION) == [("again", job)]
    assert job.answer is not None
    assert not job.answer.done()


async def test_a_used_key_gives_the_instance_that_holds_it() -> None:
    job = Job(KEY, guards=(GUARD,))

    assert conflict(job, ConflictReason.KEY, name=GUARD.name, holder="other") == []
    assert result(job) == Answer(existing="other")


async def test_the_work_row_of_a_used_key_is_deleted() -> None:
    job = Job(KEY, guards=(GUARD,), consumes_work="w")

    assert conflict(job, ConflictReason.KEY, name=GUARD.name, holder="other") == [("delete_row", job)]


async def test_a_key_with_another_body_is_refused() -> None:
    job = Job(KEY, guards=(GUARD,))

    assert conflict(job, ConflictReason.KEY, name=GUARD.name, holder="other", other_request=True) == []
    with pytest.raises(KeyReused):
        result(job)


async def test_the_key_of_another_job_of_the_burst_is_retried() -> None:
    job = Job(KEY)

    assert conflict(job, ConflictReason.KEY, name=GUARD.name, holder="other") == [("again", job)]


async def test_a_taken_slot_is_an_error_that_names_the_holder() -> None:
    job = Job(KEY)

    assert conflict(job, ConflictReason.SLOT, holder="other") == []
    with pytest.raises(StoreError, match="Instance other holds the slot that instance i needs"):
        result(job)


def with_effect() -> Job:
    job = Job(KEY)
    job.consumes_effect = EffectRef(3, 1, Owner("n", 1))
    return job


def with_inbox() -> Job:
    job = Hint(KEY)
    job.consumes_inbox = ("s",)
    return job


def with_schedule() -> Job:
    return Job(KEY, schedule_step=ScheduleStep("daily", AT, later(60)))


@pytest.mark.parametrize(
    ("make", "reason", "name"),
    [
        (lambda: Job(KEY, consumes_work="w"), ConflictReason.WORK, "w"),
        (with_inbox, ConflictReason.INBOX, "s"),
        (with_schedule, ConflictReason.SCHEDULE, "daily"),
        (with_effect, ConflictReason.EFFECT, "3"),
    ],
)
async def test_a_row_that_another_commit_consumed_drops_the_job(make: Any, reason: ConflictReason, name: str) -> None:
    job = make()

    assert conflict(job, reason, name=name) == []
    assert result(job) is DROPPED


@pytest.mark.parametrize(
    ("make", "reason", "name"),
    [
        (lambda: Job(KEY, consumes_work="w"), ConflictReason.WORK, "other"),
        (with_inbox, ConflictReason.INBOX, "other"),
        (lambda: Job(KEY), ConflictReason.SCHEDULE, "daily"),
        (with_effect, ConflictReason.EFFECT, "4"),
        (lambda: Job(KEY), ConflictReason.EFFECT, "3"),
    ],
)
async def test_the_row_of_another_job_of_the_burst_retries_the_job(
    make: Any, reason: ConflictReason, name: str
) -> None:
    job = make()

    assert conflict(job, reason, name=name) == [("again", job)]


# -- failures ----------------------------------------------------------------------------------------------------------


async def test_a_failure_reaches_the_caller() -> None:
    job, retries = Job(KEY, consumes_work="w"), RecordedRetries()
    job.on_failure(InstanceNotFound("i"), retries)

    assert retries.calls == []
    with pytest.raises(InstanceNotFound):
        result(job)


async def test_a_hint_without_an_instance_is_dropped_with_its_row() -> None:
    job, retries = Hint(KEY, consumes_work="w"), RecordedRetries()
    job.on_failure(InstanceNotFound("i"), retries)

    assert retries.calls == [("delete_row", job)]
    assert result(job) is DROPPED


async def test_a_hint_without_a_row_is_only_dropped() -> None:
    job, retries = Hint(KEY), RecordedRetries()
    job.on_failure(InstanceNotFound("i"), retries)

    assert (retries.calls, result(job)) == ([], DROPPED)


async def test_other_failures_of_a_hint_are_errors() -> None:
    job = Hint(KEY)
    job.on_failure(StoreError("broken"), RecordedRetries())

    with pytest.raises(StoreError, match="broken"):
        result(job)
