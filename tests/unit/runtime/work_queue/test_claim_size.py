"""A claim takes as many rows as are done within a moment."""

from __future__ import annotations

import pytest

from holdfast.runtime.work_queue.claim_size import AIM, FEWEST, FIRST, MOST, Pace

SECONDS = AIM.total_seconds()


def test_it_begins_with_some() -> None:
    assert Pace().rows == FIRST


@pytest.mark.parametrize(
    ("each", "rows"),
    [(SECONDS / 50, 50), (SECONDS / 100_000, MOST), (0.0, MOST), (SECONDS * 3, FEWEST)],
)
def test_rows_of_one_kind_fit_the_aim(each: float, rows: int) -> None:
    pace = Pace()

    pace.did(10, each * 10)

    assert pace.rows == rows


def test_another_kind_is_felt_after_a_few_claims() -> None:
    pace = Pace()
    pace.did(MOST, SECONDS / 10)
    for _ in range(8):
        pace.did(pace.rows, pace.rows * SECONDS / 20)

    assert 19 <= pace.rows <= 21


def test_a_claim_that_found_nothing_says_nothing() -> None:
    pace = Pace()
    pace.did(10, SECONDS)

    pace.did(0, 1000.0)

    assert pace.rows == 10
