"""The limit of a queue on one node: steps at a time, and starts per second."""

from __future__ import annotations

import pytest

from holdfast.runtime.steps.limits.local import POLL_SECONDS, UNLIMITED, LocalLimit
from holdfast.runtime.steps.limits.spec import Limit


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic time; a test moves it."""
    moment = [100.0]
    monkeypatch.setattr("holdfast.runtime.steps.limits.local.time.monotonic", lambda: moment[0])
    return moment


def test_a_rate_without_a_concurrency_counts_starts_only(now: list[float]) -> None:
    limit = LocalLimit(Limit(per_second=2.0))

    assert limit.room(running=50) == 2
    limit.take(2)
    assert limit.room(running=0) == 0
    now[0] += 0.5
    assert limit.room(running=0) == 1


def test_both_limits_hold(now: list[float]) -> None:
    limit = LocalLimit(Limit(concurrency=3, per_second=10.0))

    assert [limit.room(running) for running in (0, 2, 3)] == [3, 1, 0]
    limit.take(10)
    assert limit.room(0) == 0


def test_a_returned_token_can_be_used_again(now: list[float]) -> None:
    limit = LocalLimit(Limit(per_second=1.0))
    limit.take(1)
    limit.take(-1)

    assert limit.room(0) == 1


def test_the_next_check_waits_for_the_next_token() -> None:
    assert LocalLimit(Limit(concurrency=2)).poll_seconds == POLL_SECONDS
    assert LocalLimit(Limit(per_second=0.1)).poll_seconds == POLL_SECONDS
    assert LocalLimit(Limit(per_second=4.0)).poll_seconds == 0.25
    assert LocalLimit(Limit()).room(10) == UNLIMITED
