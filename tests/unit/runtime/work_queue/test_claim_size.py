"""A claim takes as many rows as are done within a moment."""

from __future__ import annotations

import pytest

from holdfast.runtime.work_queue.claim_size import CLAIM_TIME, ROWS_FIRST, ROWS_MAX, ROWS_MIN, ClaimSize

SECONDS = CLAIM_TIME.total_seconds()


def test_it_begins_with_some() -> None:
    assert ClaimSize().rows == ROWS_FIRST


@pytest.mark.parametrize(
    ("each", "rows"),
    [(SECONDS / 50, 50), (SECONDS / 100_000, ROWS_MAX), (0.0, ROWS_MAX), (SECONDS * 3, ROWS_MIN)],
)
def test_rows_of_one_kind_fit_the_aim(each: float, rows: int) -> None:
    pace = ClaimSize()

    pace.measured(10, each * 10)

    assert pace.rows == rows


def test_another_kind_is_felt_after_a_few_claims() -> None:
    pace = ClaimSize()
    pace.measured(ROWS_MAX, SECONDS / 10)
    for _ in range(8):
        pace.measured(pace.rows, pace.rows * SECONDS / 20)

    assert 19 <= pace.rows <= 21


def test_a_claim_that_found_nothing_says_nothing() -> None:
    pace = ClaimSize()
    pace.measured(10, SECONDS)

    pace.measured(0, 1000.0)

    assert pace.rows == 10
