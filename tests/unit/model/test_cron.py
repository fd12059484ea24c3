"""Cron expressions over zones and both changes of the clocks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from holdfast.errors import InvalidCron
from holdfast.model.cron import CRON, find_zone, next_time, next_times

BERLIN = find_zone("Europe/Berlin")
SPRING = datetime(2026, 3, 28, 12, tzinfo=UTC)
"""The night after, 02:00 to 03:00 does not exist in Berlin."""
AUTUMN = datetime(2026, 10, 24, 12, tzinfo=UTC)
"""The night after, 02:00 to 03:00 comes twice in Berlin."""


def walls(expression: str, after: datetime, count: int) -> list[str]:
    found = next_times(expression, "Europe/Berlin", after, count)
    return [moment.astimezone(BERLIN).strftime("%d %H:%M:%S%z") for moment in found]


@pytest.mark.parametrize("expression", ["30 2 * * *", "0 30 2 * * *"])
def test_a_fixed_time_fires_once_when_it_does_not_exist(expression: str) -> None:
    assert walls(expression, SPRING, 2) == ["29 03:00:00+0200", "30 02:30:00+0200"]


@pytest.mark.parametrize("expression", ["30 2 * * *", "0 30 2 * * *"])
def test_a_fixed_time_fires_once_when_it_comes_twice(expression: str) -> None:
    assert walls(expression, AUTUMN, 2) == ["25 02:30:00+0200", "26 02:30:00+0100"]


def test_two_fixed_times_in_one_gap_are_one_moment() -> None:
    assert walls("0,30 2 * * *", SPRING, 2) == ["29 03:00:00+0200", "30 02:00:00+0200"]


def test_asked_within_the_hour_that_repeats_it_does_not_fire_again() -> None:
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # 02:30 for the first time
    assert next_time("30 2 * * *", "Europe/Berlin", first) == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)
    second = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)  # 02:10 for the second time
    assert next_time("45 2 * * *", "Europe/Berlin", second) == datetime(2026, 10, 26, 1, 45, tzinfo=UTC)


def test_a_rule_of_intervals_goes_by_elapsed_time() -> None:
    assert walls("*/30 1-3 * * *", SPRING, 4) == [
        "29 01:00:00+0100",
        "29 01:30:00+0100",
        "29 03:00:00+0200",
        "29 03:30:00+0200",
    ]
    assert walls("*/30 2 * * *", AUTUMN, 4) == [
        "25 02:00:00+0200",
        "25 02:30:00+0200",
        "25 02:00:00+0100",
        "25 02:30:00+0100",
    ]


def test_midnight_is_local_on_both_sides_of_a_change() -> None:
    assert walls("@daily", SPRING, 3) == ["29 00:00:00+0100", "30 00:00:00+0200", "31 00:00:00+0200"]


def test_six_fields_begin_with_seconds() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    assert [item.second for item in next_times("*/20 * * * * *", "UTC", start, 3)] == [20, 40, 0]
    assert next_time("5 4 3 * * *", "UTC", start) == datetime(2026, 1, 1, 3, 4, 5, tzinfo=UTC)


def test_a_question_mark_is_a_star() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    assert next_time("0 0 12 ? * MON", "UTC", start) == datetime(2026, 1, 5, 12, tzinfo=UTC)


def test_the_answer_is_always_later_and_the_default_zone_is_utc() -> None:
    moment = datetime(2026, 5, 1, 12, 0, 0, 1, tzinfo=UTC)
    assert next_time("0 12 * * *", "UTC", moment) == datetime(2026, 5, 2, 12, tzinfo=UTC)
    assert next_time("0 12 * * *", "UTC", moment.replace(microsecond=0)) == datetime(2026, 5, 2, 12, tzinfo=UTC)


def test_what_is_rare_is_found() -> None:
    assert next_time("0 0 29 2 *", "UTC", datetime(2026, 1, 1, tzinfo=UTC)) == datetime(2028, 2, 29, tzinfo=UTC)


@pytest.mark.parametrize(
    "expression", ["", "* * * *", "0 0 30 2 *", "61 * * * *", "* * * * * * *", "@sometimes", "a b c d e", "*/0 * * * *"]
)
def test_what_cannot_be_read_is_refused_with_the_remedy(expression: str) -> None:
    with pytest.raises(InvalidCron, match="five fields"):
        CRON.check(expression, "UTC")


@pytest.mark.parametrize("zone", ["Europe/Nowhere", "../etc/passwd", "", "/etc/localtime"])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(InvalidCron, match="time zone"):
        CRON.check("@daily", zone)
