"""The pace of bursts: only expensive bursts are followed by a rest, in proportion to their cost."""

from __future__ import annotations

from datetime import timedelta
from time import monotonic

from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.burst_pace import COST_PER_JOB, FREE, REST_MAX, WAITS_MIN, BurstPace, Rest

I = InstanceKey("", "i")


def ns(span: timedelta) -> int:
    return span // timedelta(microseconds=1) * 1_000


def test_a_cheap_burst_is_followed_by_no_rest() -> None:
    pace = BurstPace()
    pace.ran(I, ns(FREE), 1, WAITS_MIN)

    assert not pace


def test_a_rest_is_in_proportion_to_the_cost() -> None:
    pace = BurstPace()
    pace.ran(I, ns(20 * FREE), 1, WAITS_MIN)
    found = pace.rests(I)

    assert found is not None
    assert found.jobs == 20 * FREE // COST_PER_JOB
    assert found.until <= monotonic() + REST_MAX.total_seconds()


def test_a_cheap_burst_ends_the_rest() -> None:
    pace = BurstPace()
    pace.ran(I, ns(20 * FREE), 1, WAITS_MIN)
    pace.ran(I, 0, 1, WAITS_MIN)

    assert pace.rests(I) is None


def test_a_rest_is_over_after_its_time() -> None:
    pace = BurstPace()
    pace[I] = Rest(until=monotonic(), jobs=1)

    assert pace.rests(I) is None
    assert not pace


def test_instances_that_never_return_are_forgotten_when_all_rests_are_over() -> None:
    pace = BurstPace()
    pace[InstanceKey("", "ended")] = Rest(until=monotonic(), jobs=1)

    assert pace.rests(I) is None
    assert not pace


def test_a_burst_with_enough_jobs_is_followed_by_no_rest() -> None:
    pace = BurstPace()
    pace.ran(I, ns(20 * FREE), 20 * FREE // COST_PER_JOB, WAITS_MIN)

    assert not pace


def test_an_instance_that_waits_for_little_does_not_rest() -> None:
    pace = BurstPace()
    pace.ran(I, ns(20 * FREE), 1, WAITS_MIN - 1)

    assert not pace
