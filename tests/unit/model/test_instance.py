"""The status of an instance, and moments from nanoseconds."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from holdfast.model.instance import TRANSITIONS, Status, moment


def test_only_a_faulted_instance_leaves_its_rest() -> None:
    assert {status for status in Status if status.at_rest and TRANSITIONS[status]} == {Status.FAULTED}


def test_every_status_is_in_the_table_and_can_be_reached() -> None:
    reached = {target for targets in TRANSITIONS.values() for target in targets}

    assert TRANSITIONS.keys() == set(Status)
    assert reached == set(Status) - {Status.PENDING}


@pytest.mark.parametrize("micros", [0, 1, 1_893_456_000_123_457, 8_583_000_000_999_999])
def test_a_moment_keeps_its_microseconds(micros: int) -> None:
    found = moment(micros * 1_000 + 999)

    assert found.tzinfo is UTC
    assert (found - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() == pytest.approx(micros / 1e6, abs=1e-9)
    assert found.microsecond == micros % 1_000_000
