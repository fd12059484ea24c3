"""Jobs that resume a bookmark: errors for callers, nothing for hints, payloads of rows decoded by the types of the instance."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from holdfast import Workflow
from holdfast.activities import Event, Sequence
from holdfast.errors import BookmarkNotFound, InstanceAtRest
from holdfast.execution import delivery
from holdfast.execution.live import LiveInstance
from holdfast.execution.segment import Limits, run_segment
from holdfast.model.instance import Status
from holdfast.model.scope import find
from holdfast.runtime.commits.jobs.resume import ResumeJob, StoredResumeJob
from holdfast.runtime.payload_codec import encode_payload
from tests.support.commit_pipeline import KEY, begun

PAID = Workflow(Sequence(Event("paid", id="wait", result="got"), Event("shipped")), id="w", variables={"got": None})


def got(live: LiveInstance) -> Any:
    """The value of the variable that the event sets."""
    found = find(live.root.scope, "got")
    assert found is not None
    scope, slot = found
    return scope[slot]


async def test_a_resume_delivers_its_payload_and_runs_on() -> None:
    live = begun(PAID)

    assert ResumeJob(KEY, "b1", {"amount": 7}).apply(live)
    run_segment(live, Limits())
    assert got(live) == {"amount": 7}
    assert list(live.bookmarks) == ["b2"]


async def test_a_payload_of_a_row_is_decoded() -> None:
    live = begun(PAID)

    assert StoredResumeJob(KEY, "b1", encode_payload(Decimal("1.20"))).apply(live)
    run_segment(live, Limits())
    assert got(live) == Decimal("1.20")


async def test_a_bookmark_that_is_gone_is_an_error_for_a_caller_and_nothing_for_a_hint() -> None:
    live = begun(PAID)

    with pytest.raises(BookmarkNotFound):
        ResumeJob(KEY, "b9").apply(live)
    assert not ResumeJob(KEY, "b9", is_hint=True).apply(live)
    assert list(live.bookmarks) == ["b1"]


async def test_an_ended_instance_is_an_error_for_a_caller_and_nothing_for_a_hint() -> None:
    live = begun(PAID)
    delivery.cancel(live)
    run_segment(live, Limits())
    assert live.status is Status.CANCELED

    with pytest.raises(InstanceAtRest):
        ResumeJob(KEY, "b1").apply(live)
    assert not ResumeJob(KEY, "b1", is_hint=True).apply(live)
