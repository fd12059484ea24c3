"""Jobs whose commit was not written: three retries at once, then a random back-off; rows of the work table go back to it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from holdfast import telemetry
from holdfast.errors import StoreError
from holdfast.model.commit import Conflict, ConflictReason
from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.conflicts import RETRIES_AT_ONCE, RETRIES_MAX, Conflicts
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.jobs.base import DROPPED, Job
from holdfast.runtime.commits.large_values import StateMoved
from holdfast.runtime.commits.spent_rows import SpentRows
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.testing.store_rows import instance, settlement, work
from tests.support.commit_pipeline import RecordingStore

I = InstanceKey("", "i")
VERSION = Conflict(reason=ConflictReason.VERSION, version=3)


class Parts:
    def __init__(self) -> None:
        self.store = RecordingStore()
        self.membership = Membership("n")
        self.cache, self.in_hand = InstanceCache(self.store), InstancesInHand()
        self.spent = SpentRows(self.store, self.membership, OutageLog("n"))
        self.conflicts = Conflicts(self.cache, self.in_hand, self.spent)
        self.submitted: list[Job] = []
        self.arrived = asyncio.Event()
        self.conflicts.submit = self.submit

    def submit(self, job: Job) -> None:
        self.submitted.append(job)
        self.arrived.set()


async def test_the_first_conflicts_are_retried_at_once() -> None:
    parts, job = Parts(), Job(I)
    for _ in range(RETRIES_AT_ONCE):
        parts.conflicts.lost(I, [job], VERSION)

    assert parts.submitted == [job] * RETRIES_AT_ONCE
    assert not parts.in_hand.has(I)


async def test_the_next_conflict_waits_for_a_back_off_that_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    longest: list[float] = []

    def uniform(shortest: float, most: float) -> float:
        assert shortest == 0
        longest.append(most)
        return 0

    monkeypatch.setattr(random, "uniform", uniform)
    parts, job = Parts(), Job(I)
    for tries in (3, 4, 9, 10, 50):
        job.tries = tries
        parts.conflicts.again(job)

    assert parts.submitted == []
    assert longest == pytest.approx([0.08, 0.1, 0.2, 0.2, 0.2])
    parts.conflicts.stop()


async def test_an_instance_is_in_hand_during_the_back_off() -> None:
    parts, job = Parts(), Job(I)
    parts.conflicts.later(job, 0.001)
    assert parts.in_hand.has(I)

    async with asyncio.timeout(30):
        await parts.arrived.wait()
    assert parts.submitted == [job]
    assert not parts.in_hand.has(I)


async def test_a_job_of_a_work_row_goes_back_to_the_table() -> None:
    """Its row is still due: the node that claims it next continues."""
    parts, job = Parts(), Job(I, consumes_work="w")
    job.tries = RETRIES_AT_ONCE
    parts.conflicts.again(job)

    assert job.answer is not None
    assert job.answer.result() is DROPPED
    assert (parts.submitted, parts.store.batches) == ([], [])


async def test_a_caller_gets_an_error_after_too_many_conflicts() -> None:
    parts, job = Parts(), Job(I)
    job.tries = RETRIES_MAX
    parts.conflicts.again(job)

    assert job.answer is not None
    with pytest.raises(StoreError, match="changed 201 times"):
        job.answer.result()


async def test_a_job_without_a_caller_is_never_given_up() -> None:
    parts, job = Parts(), Job(I, wants_answer=False)
    job.tries = RETRIES_MAX
    parts.conflicts.again(job)

    async with asyncio.timeout(30):
        await parts.arrived.wait()
    assert parts.submitted == [job]


async def test_a_conflict_drops_the_cached_row() -> None:
    parts, job = Parts(), Job(I)
    parts.cache.keep(I, instance("i"))
    parts.conflicts.lost(I, [job], VERSION)

    assert parts.cache.get(I) is None


async def test_a_state_that_moved_is_read_again() -> None:
    parts, job = Parts(), Job(I)
    parts.cache.keep(I, instance("i"))
    parts.conflicts.fail(job, StateMoved("i"))

    assert (parts.submitted, job.from_store, parts.cache.get(I)) == ([job], True, None)


async def test_any_other_failure_is_decided_by_the_job() -> None:
    parts, job = Parts(), Job(I)
    parts.cache.keep(I, instance("i"))
    parts.conflicts.fail(job, ValueError("broken"))

    assert job.answer is not None
    assert isinstance(job.answer.exception(), ValueError)
    assert parts.cache.get(I) is not None


async def test_a_stopped_node_retries_nothing_later() -> None:
    parts = Parts()
    parts.conflicts.later(Job(I), 0)
    parts.conflicts.stop()
    parts.conflicts.later(Job(InstanceKey("", "j")), 0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert parts.submitted == []
    assert not parts.in_hand.has(InstanceKey("", "j"))


async def test_the_row_of_a_job_is_deleted_in_the_background() -> None:
    parts = Parts()
    registration = await parts.store.register_node("n", time_to_live=timedelta(minutes=1))
    parts.membership.join(registration, lambda: 1_000_000)
    await parts.store.commit([settlement("", work_added=(work("", id="w"),))])
    parts.conflicts.delete_row(Job(I, consumes_work="w"))
    await parts.spent.wait()

    assert parts.store.tables.work == {}


async def test_a_conflict_is_reported_to_telemetry() -> None:
    told: list[Mapping[str, Any]] = []
    end = telemetry.subscribe(lambda _, fields: told.append(fields), "commit.lost")
    try:
        Parts().conflicts.lost(I, [], VERSION)
    finally:
        end()

    assert told == [{"tenant": "", "instance_id": "i", "reason": "version"}]
