"""When a schedule fires next, and what becomes of firings that were missed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from holdfast.errors import InvalidCron
from holdfast.model.cron import CRON
from holdfast.model.ids import is_id
from holdfast.model.schedule import (
    Firing,
    Misfire,
    Rule,
    decide,
    decode_rule,
    encode_rule,
    instance_id,
    latest,
    next_due,
    rule_of,
    schedule_id,
    upcoming,
)

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def timer(misfire: Misfire = Misfire.FIRE_ONCE, limit: int = 10) -> Rule:
    return Rule(type="Timer", activity_id="t", interval=10 * MINUTE, misfire=misfire, catch_up_max=limit)


def cron(misfire: Misfire = Misfire.FIRE_ONCE, limit: int = 10) -> Rule:
    return Rule(type="Cron", activity_id="t", expression="*/10 * * * *", misfire=misfire, catch_up_max=limit)


RULES = [timer, cron]


@pytest.mark.parametrize("make", RULES)
@pytest.mark.parametrize("misfire", list(Misfire))
def test_on_time_it_starts_and_goes_on_without_drift(make, misfire: Misfire) -> None:  # type: ignore[no-untyped-def]
    late = NOON + timedelta(seconds=40)
    assert decide(make(misfire), CRON, NOON, late, MINUTE) == Firing(NOON, NOON + 10 * MINUTE)


@pytest.mark.parametrize("make", RULES)
def test_missed_firings_are_one_are_none_or_are_caught_up(make) -> None:  # type: ignore[no-untyped-def]
    now = NOON + 35 * MINUTE
    assert decide(make(Misfire.FIRE_ONCE), CRON, NOON, now, MINUTE) == Firing(NOON, NOON + 40 * MINUTE)
    assert decide(make(Misfire.SKIP), CRON, NOON, now, MINUTE) == Firing(None, NOON + 40 * MINUTE)
    assert decide(make(Misfire.CATCH_UP), CRON, NOON, now, MINUTE) == Firing(NOON, NOON + 10 * MINUTE)


@pytest.mark.parametrize("make", RULES)
def test_catching_up_has_a_limit_and_keeps_the_latest(make) -> None:  # type: ignore[no-untyped-def]
    now = NOON + 35 * MINUTE
    rule = make(Misfire.CATCH_UP, 2)
    assert decide(rule, CRON, NOON, now, MINUTE) == Firing(None, NOON + 20 * MINUTE)
    assert decide(rule, CRON, NOON + 20 * MINUTE, now, MINUTE) == Firing(NOON + 20 * MINUTE, NOON + 30 * MINUTE)
    assert decide(rule, CRON, NOON + 30 * MINUTE, now, MINUTE) == Firing(NOON + 30 * MINUTE, NOON + 40 * MINUTE)


def test_a_year_of_seconds_is_not_walked_through() -> None:
    rule = Rule(type="Cron", activity_id="t", expression="* * * * * *")
    found = latest(rule, CRON, NOON - timedelta(days=365), NOON, 3)
    assert found == [NOON - timedelta(seconds=2), NOON - timedelta(seconds=1), NOON]


def test_a_moment_fires_once_and_never_again() -> None:
    rule = Rule(type="StartAt", activity_id="t", at=NOON)
    assert next_due(rule, CRON, NOON - MINUTE) == NOON
    assert next_due(rule, CRON, NOON) is None
    assert decide(rule, CRON, NOON, NOON, MINUTE) == Firing(NOON, None)
    assert upcoming(rule, CRON, NOON, 5) == [NOON]
    assert upcoming(rule, CRON, None, 5) == []


def test_a_rule_round_trips_and_a_bad_one_is_refused() -> None:
    rule = rule_of("Cron", "c", {"expression": "@daily", "zone": "Europe/Berlin", "misfire": "skip"}, CRON)
    assert decode_rule(encode_rule(rule)) == rule
    with pytest.raises(InvalidCron):
        rule_of("Cron", "c", {"expression": "nonsense"}, CRON)
    with pytest.raises(InvalidCron, match="above zero"):
        rule_of("Timer", "t", {"interval": timedelta(0)}, CRON)


@pytest.mark.parametrize("definition", ["orders", "a" * 64, "order flow with spaces"])
def test_names_fit_and_tell_firings_apart(definition: str) -> None:
    one = schedule_id(definition, "timer1")
    names = {
        instance_id(one, NOON),
        instance_id(one, NOON + timedelta(microseconds=1)),
        instance_id(one, NOON + MINUTE),
    }
    assert len(names) == 3
    assert all(is_id(name) for name in names)
    assert one != schedule_id(definition, "timer2")
