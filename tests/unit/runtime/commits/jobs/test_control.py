"""Jobs that continue, cancel or retry an instance."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Context, Status, Workflow, activity
from holdfast.activities import Event, Sequence, SetVariable, Try, WriteLine
from holdfast.errors import InstanceAtRest, InstanceNotFound, PlaceTaken, StoreError
from holdfast.execution.segment import Limits, run_segment
from holdfast.model.commit import Conflict, ConflictReason
from holdfast.runtime.commits.jobs.base import DROPPED
from holdfast.runtime.commits.jobs.control import TERMINATED, CancelJob, ContinueJob, RetryJob
from tests.support.commit_pipeline import KEY, RecordedRetries, begun

WAITING = Workflow(Sequence(Event("paid", id="wait")), id="w")
CLEANING = Workflow(Try(Event("paid"), finally_=WriteLine("cleaned")), id="w")


@activity(pure=True)
def fail(context: Context) -> None:
    raise ValueError("broken")


def finished() -> Any:
    return begun(Workflow(SetVariable("x", 1), id="w", variables={"x": 0}))


def run(live: Any) -> Any:
    run_segment(live, Limits())
    return live.status


# -- continue ----------------------------------------------------------------------------------------------------------


async def test_continue_runs_what_is_left_in_the_queue() -> None:
    live = begun(WAITING)
    assert not ContinueJob(KEY).apply(live)

    live.queue.append((live.root.node, live.root, live.root.scope))
    assert ContinueJob(KEY).apply(live)


# -- cancel ------------------------------------------------------------------------------------------------------------


async def test_cancel_runs_finally_parts() -> None:
    live = begun(CLEANING)

    assert CancelJob(KEY, "canceled by ann").apply(live)
    assert run(live) is Status.CANCELED
    assert live.lines == ["cleaned"]


async def test_terminate_does_not() -> None:
    live, job = begun(CLEANING), CancelJob(KEY, "canceled by ann", finalize=False)

    assert job.cause == TERMINATED
    assert job.apply(live)
    assert run(live) is Status.CANCELED
    assert live.lines == []


async def test_cancel_of_an_ended_instance_is_an_error_unless_it_is_a_hint() -> None:
    assert not CancelJob(KEY, "parent", is_hint=True).apply(finished())
    with pytest.raises(InstanceAtRest, match="nothing left to cancel"):
        CancelJob(KEY, "parent").apply(finished())


async def test_a_cancel_row_stays_if_its_child_is_not_started_yet() -> None:
    """A hint, too: its start row may be claimed right now."""
    job, retries = CancelJob(KEY, "parent", is_hint=True, consumes_work="w"), RecordedRetries()
    job.on_failure(InstanceNotFound("i"), retries)

    assert retries.calls == []
    assert job.answer is not None
    with pytest.raises(InstanceNotFound):
        job.answer.result()


async def test_other_failures_of_a_cancel_are_errors() -> None:
    job = CancelJob(KEY, "parent", is_hint=True)
    job.on_failure(StoreError("broken"), RecordedRetries())

    assert job.answer is not None
    with pytest.raises(StoreError, match="broken"):
        job.answer.result()


async def test_a_cancel_row_that_was_consumed_elsewhere_drops_the_job() -> None:
    job = CancelJob(KEY, "parent", consumes_work="w")
    job.on_conflict(Conflict(reason=ConflictReason.WORK, name="w"), RecordedRetries())

    assert job.answer is not None
    assert job.answer.result() is DROPPED


# -- retry -------------------------------------------------------------------------------------------------------------


async def test_retry_runs_the_failed_activity_again() -> None:
    live = begun(Workflow(fail.bind(id="fail"), id="w"))
    assert [item.message for item in live.incidents] == ["broken"]

    assert RetryJob(KEY).apply(live)
    assert live.status is Status.RUNNING
    assert run(live) is Status.FAULTED


async def test_retry_of_a_finished_instance_is_an_error() -> None:
    with pytest.raises(InstanceAtRest, match="Only faulted and suspended"):
        RetryJob(KEY).apply(finished())


async def test_a_retry_whose_slot_is_taken_names_the_holder() -> None:
    job, retries = RetryJob(KEY), RecordedRetries()
    job.on_conflict(Conflict(reason=ConflictReason.SLOT, holder="other"), retries)

    assert retries.calls == []
    assert job.answer is not None
    with pytest.raises(PlaceTaken, match="other"):
        job.answer.result()
