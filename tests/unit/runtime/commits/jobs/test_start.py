"""Starts: checked inputs, the instance that is created, and the answer if another instance was first."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Holdfast, Status, Workflow
from holdfast.activities import Event, Sequence
from holdfast.errors import InvalidInput, UnstorableText
from holdfast.model.commit import Conflict, ConflictReason
from holdfast.model.definition import InputDeclaration
from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.jobs.base import Answer
from holdfast.runtime.commits.jobs.resume import ResumeJob
from holdfast.runtime.commits.jobs.start import PendingJob, Start, StartJob, parent_bookmark
from holdfast.testing.store_rows import work
from tests.support.commit_pipeline import KEY, RecordedRetries

ENGINE = Holdfast(entry_points=False)
ORDER = Workflow(
    Sequence(Event("paid")),
    id="order",
    inputs=[
        InputDeclaration(name="amount", type="integer", required=True),
        InputDeclaration(name="note", type="string", default="none"),
    ],
)


def start(**given: Any) -> Start:
    return Start(**{"key": KEY, "plan": ENGINE.plan(ORDER), "content": "c", "inputs": {"amount": 7}, **given})


def conflict(job: StartJob, reason: ConflictReason, **fields: Any) -> list[tuple[Any, ...]]:
    retries = RecordedRetries()
    job.on_conflict(Conflict(reason=reason, **fields), retries)
    return retries.calls


def existing(job: StartJob) -> str | None:
    assert job.answer is not None
    answer: Answer = job.answer.result()
    return answer.existing


# -- inputs ------------------------------------------------------------------------------------------------------------


def test_inputs_are_converted_and_completed() -> None:
    found = start(inputs={"amount": 7.0}).checked_inputs()

    assert found == {"amount": 7, "note": "none"}
    assert isinstance(found["amount"], int)


def test_a_missing_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="amount"):
        start(inputs={}).checked_inputs()


def test_an_unknown_input_is_refused_unless_the_start_is_lenient() -> None:
    """A stimulus brings any data."""
    given = {"amount": 7, "color": "red"}

    with pytest.raises(InvalidInput, match="color"):
        start(inputs=given).checked_inputs()
    assert start(inputs=given, lenient=True).checked_inputs() == {"amount": 7, "note": "none"}


def test_a_lenient_start_still_checks_declared_inputs() -> None:
    with pytest.raises(InvalidInput, match="amount"):
        start(inputs={"amount": "seven", "color": "red"}, lenient=True).checked_inputs()


def test_checked_inputs_are_not_checked_again() -> None:
    assert start(inputs={}, complete={"amount": 1}).checked_inputs() == {"amount": 1}


@pytest.mark.parametrize("field", ["correlation_id", "name"])
def test_text_that_no_store_can_keep_is_refused(field: str) -> None:
    with pytest.raises(UnstorableText):
        start(**{field: "a\x00b"}).checked_inputs()


# -- the instance ------------------------------------------------------------------------------------------------------


async def test_each_creation_makes_another_live_instance() -> None:
    job = StartJob(start(correlation_id="c-1", name="Order 7", principal="ann", properties={"a": 1}))
    first, second = (job.create(ENGINE.clock.now_ns, ENGINE.services) for _ in range(2))

    assert first is not second
    assert (first.id, first.correlation_id, first.name, first.principal) == ("i", "c-1", "Order 7", "ann")
    assert (first.properties, first.status) == ({"a": 1}, Status.RUNNING)
    assert len(first.queue) == 1


async def test_a_pending_start_runs_nothing_and_adds_the_row_that_begins_it() -> None:
    begins = work("")
    job = PendingJob(start(), begins)
    live = job.create(ENGINE.clock.now_ns, ENGINE.services)

    assert (live.status, len(live.queue)) == (Status.PENDING, 0)
    assert (job.adds_work, job.runs_queue) == ((begins,), False)


# -- conflicts ---------------------------------------------------------------------------------------------------------


async def test_an_existing_instance_is_the_answer() -> None:
    job = StartJob(start())

    assert conflict(job, ConflictReason.EXISTS) == []
    assert existing(job) == "i"


async def test_the_holder_of_the_slot_is_the_answer() -> None:
    job = StartJob(start())

    assert conflict(job, ConflictReason.SLOT, holder="other") == []
    assert existing(job) == "other"


async def test_a_version_conflict_is_retried() -> None:
    job = StartJob(start())

    assert conflict(job, ConflictReason.VERSION) == [("again", job)]


async def test_the_row_of_a_start_that_exists_is_deleted() -> None:
    job = StartJob(start(), consumes_work="w")

    assert conflict(job, ConflictReason.EXISTS) == [("delete_row", job)]


async def test_a_waiting_parent_is_notified_that_its_child_was_refused() -> None:
    job = StartJob(start(parent_id="parent#b3"), consumes_work="w")
    ((option, told),) = conflict(job, ConflictReason.SLOT, holder="other")

    assert (option, existing(job)) == ("submit", "other")
    assert isinstance(told, ResumeJob)
    assert (told.key, told.bookmark_id, told.consumes_work, told.is_hint) == (
        InstanceKey("", "parent"), "b3", "w", True
    )  # fmt: skip
    assert told.payload["instance_id"] == "i"
    assert "Instance other is running" in told.payload["refused"]


async def test_a_child_that_exists_itself_was_not_refused() -> None:
    """An earlier claim of the row started it."""
    job = StartJob(start(parent_id="parent#b3"), consumes_work="w")

    assert conflict(job, ConflictReason.EXISTS) == [("delete_row", job)]


def test_the_parent_and_its_bookmark() -> None:
    assert parent_bookmark(start()) is None
    assert parent_bookmark(start(parent_id="parent#b3")) == (InstanceKey("", "parent"), "b3")
    assert parent_bookmark(start(parent_id="parent")) == (InstanceKey("", "parent"), "")
