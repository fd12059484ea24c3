"""Jobs of dispatched requests: a pending instance begins once, a request resumes, retries or merges."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Context, Holdfast, Status, Workflow, activity
from holdfast.activities import Event, Parallel, Sequence
from holdfast.errors import BookmarkNotFound, InvalidInput
from holdfast.execution import delivery
from holdfast.execution.segment import Limits, run_segment
from holdfast.model.requests import DispatchInstance, encode_request
from holdfast.runtime.commits.jobs.dispatch import (
    BeginJob,
    RunJob,
    StoredRunJob,
    bookmark_of,
    merge,
)
from tests.support.commit_pipeline import KEY, begun

ONE = Workflow(Sequence(Event("paid", id="wait")), id="w", inputs={"amount": int})
TWO = Workflow(Parallel(Event("paid", id="paid"), Event("shipped", id="shipped")), id="w")


@activity(pure=True)
def fail(context: Context) -> None:
    raise ValueError("broken")


def one() -> Any:
    return begun(ONE, inputs={"amount": 1})


def pending() -> Any:
    engine = Holdfast(entry_points=False)
    return delivery.start(
        engine.plan(ONE),
        id="i",
        now=engine.clock.now_ns,
        services=engine.services,
        inputs={"amount": 1},
        pending=True,
    )


def canceled() -> Any:
    live = one()
    delivery.cancel(live)
    run_segment(live, Limits())
    return live


def amount(live: Any) -> Any:
    return live.root.scope[live.root.scope[1].inputs["amount"]]


def request(**given: Any) -> DispatchInstance:
    return DispatchInstance(instance_id="i", **given)


def apply(live: Any, **given: Any) -> bool:
    return RunJob("", request(**given)).apply(live)


# -- begin -------------------------------------------------------------------------------------------------------------


async def test_a_pending_instance_begins_once() -> None:
    live = pending()

    assert BeginJob(KEY).apply(live)
    run_segment(live, Limits())
    assert live.status is Status.SUSPENDED
    assert not BeginJob(KEY).apply(live)


# -- run ---------------------------------------------------------------------------------------------------------------


async def test_a_request_resumes_the_only_open_bookmark() -> None:
    live = one()

    assert apply(live)
    run_segment(live, Limits())
    assert live.status is Status.FINISHED


@pytest.mark.parametrize("named", [{"bookmark_id": "b2"}, {"node_id": "shipped"}, {"activity_id": "shipped"}])
async def test_a_request_resumes_the_bookmark_that_it_names(named: dict[str, str]) -> None:
    live = begun(TWO)

    assert apply(live, **named)
    assert [mark.activity_id for mark in live.bookmarks.values()] == ["paid"]


@pytest.mark.parametrize("named", [{}, {"bookmark_id": "b9"}, {"node_id": "other"}, {"activity_id": "other"}])
async def test_a_request_without_a_match_names_the_open_bookmarks(named: dict[str, str]) -> None:
    live = begun(TWO)

    with pytest.raises(BookmarkNotFound, match=r"b1 \(paid\)"):
        apply(live, **named)
    assert len(live.bookmarks) == 2


async def test_declared_inputs_are_overwritten_and_converted() -> None:
    live = one()

    assert apply(live, input={"amount": 5.0, "note": "for the activity"})
    assert amount(live) == 5
    assert isinstance(amount(live), int)


async def test_a_wrong_input_changes_nothing() -> None:
    live = one()

    with pytest.raises(InvalidInput):
        merge(live, {"amount": "five"})
    assert amount(live) == 1
    assert not merge(live, {"note": "not declared"})


async def test_a_pending_instance_takes_inputs_without_running() -> None:
    live, job = pending(), RunJob("", request(input={"amount": 5}))

    assert job.apply(live)
    assert (amount(live), job.runs_queue, live.status) == (5, False, Status.PENDING)


async def test_a_faulted_instance_is_retried() -> None:
    live = begun(Workflow(Sequence(fail.bind(id="fail")), id="w"))
    assert [item.message for item in live.incidents] == ["broken"]
    assert bookmark_of(live, request()) is None

    assert apply(live)
    assert live.status is Status.RUNNING


async def test_a_hint_for_an_ended_instance_does_nothing() -> None:
    live = canceled()

    assert not RunJob("", request(), is_hint=True).apply(live)


async def test_a_request_of_a_row_is_decoded() -> None:
    live, job = one(), StoredRunJob(KEY, encode_request(request(input={"amount": 5})))

    assert job.apply(live)
    assert (amount(live), job.is_hint) == (5, True)
