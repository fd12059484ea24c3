"""A bucket of tokens per principal."""

from __future__ import annotations

import pytest

from holdfast.errors import TooManyRequests
from holdfast.server.evaluation_limit import BURST, PER_SECOND, PRINCIPALS_MAX, EvaluationLimit


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_allowed_then_requests_wait_for_a_token() -> None:
    clock = Clock()
    limit = EvaluationLimit(clock)
    for _ in range(BURST):
        limit.take("kim")
    with pytest.raises(TooManyRequests) as refused:
        limit.take("kim")
    clock.now += refused.value.wait.total_seconds()
    limit.take("kim")
    with pytest.raises(TooManyRequests):
        limit.take("kim")


def test_a_bucket_holds_no_more_than_a_burst() -> None:
    clock = Clock()
    limit = EvaluationLimit(clock)
    limit.take("kim")
    clock.now += 10 * BURST / PER_SECOND
    for _ in range(BURST):
        limit.take("kim")
    with pytest.raises(TooManyRequests):
        limit.take("kim")


def test_principals_do_not_share_a_bucket() -> None:
    limit = EvaluationLimit(Clock())
    for _ in range(BURST):
        limit.take("kim")
    limit.take("lee")


def test_the_number_of_buckets_is_limited() -> None:
    limit = EvaluationLimit(Clock())
    for number in range(PRINCIPALS_MAX + 10):
        limit.take(f"p{number}")
    assert len(limit._buckets) == PRINCIPALS_MAX
