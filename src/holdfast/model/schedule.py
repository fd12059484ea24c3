"""Schedules: next due time of a time trigger and the policy for missed firings.

A schedule is one row of the store (rule M20). Its payload is a `Rule`, written at publish. Due times derive from due times,
not from the time of firing, so a late schedule does not drift.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import blake2b
from itertools import islice
from typing import Any, Protocol

from msgspec import Struct, msgpack

from holdfast.errors import InvalidCron
from holdfast.model.ids import ID_LENGTH_MAX, is_id

TYPES = frozenset({"Timer", "Cron", "StartAt"})
"""Activity types whose triggers are schedules."""


class Misfire(StrEnum):
    """Policy for firings that were missed while no node was running."""

    FIRE_ONCE = "fire_once"
    """One start replaces all missed firings."""
    SKIP = "skip"
    CATCH_UP = "catch_up"
    """One start per missed firing, limited to the most recent ones."""


class Calendar(Protocol):
    def check(self, expression: str, zone: str) -> None: ...
    def next(self, expression: str, zone: str, after: datetime) -> datetime | None: ...


class Rule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stored time trigger."""

    type: str
    activity_id: str
    interval: timedelta | None = None
    expression: str = ""
    zone: str = "UTC"
    at: datetime | None = None
    misfire: Misfire = Misfire.FIRE_ONCE
    catch_up_max: int = 10
    paused: bool = False


_encode = msgpack.Encoder().encode
_decode = msgpack.Decoder(Rule).decode


def encode_rule(rule: Rule) -> bytes:
    return _encode(rule)


def decode_rule(payload: bytes) -> Rule:
    return _decode(payload)


def rule_of(type: str, activity_id: str, payload: Mapping[str, Any], calendar: Calendar) -> Rule:
    """The rule of a trigger at publish. Raises `InvalidCron`."""
    rule = Rule(
        type=type,
        activity_id=activity_id,
        interval=payload.get("interval"),
        expression=payload.get("expression", ""),
        zone=payload.get("zone", "UTC"),
        at=payload.get("at"),
        misfire=Misfire(payload.get("misfire", Misfire.FIRE_ONCE)),
        catch_up_max=payload.get("catch_up_max", 10),
    )
    if type == "Cron":
        calendar.check(rule.expression, rule.zone)
    if type == "Timer" and (rule.interval is None or rule.interval <= timedelta(0)):
        raise InvalidCron(str(rule.interval), "a timer needs an interval above zero")
    return rule


# -- due times ---------------------------------------------------------------------------------------------------------


def next_due(rule: Rule, calendar: Calendar, after: datetime) -> datetime | None:
    """The first firing after `after`. For a timer, `after` is its last firing."""
    if rule.interval is not None:
        return after + rule.interval
    if rule.at is not None:
        return rule.at if rule.at > after else None
    return calendar.next(rule.expression, rule.zone, after)


def dues(rule: Rule, calendar: Calendar, after: datetime) -> Iterator[datetime]:
    due = next_due(rule, calendar, after)
    while due is not None:
        yield due
        due = next_due(rule, calendar, due)


def first_after(rule: Rule, calendar: Calendar, due: datetime, now: datetime) -> datetime | None:
    """The first firing after `now` of a schedule that was due at `due`. A timer keeps its phase."""
    if rule.interval is not None:
        return due + rule.interval * ((now - due) // rule.interval + 1)
    return next_due(rule, calendar, now)


class Firing(Struct, frozen=True):
    """Decision on a due schedule."""

    start: datetime | None
    """Due time of the start; None starts nothing."""
    next_due: datetime | None


def decide(rule: Rule, calendar: Calendar, due: datetime, now: datetime, tolerance: timedelta) -> Firing:
    """A firing that is late by at most `tolerance` counts as on time under every policy."""
    following = next_due(rule, calendar, due)
    if now - due <= tolerance:
        return Firing(due, following)
    if rule.misfire is Misfire.SKIP:
        return Firing(None, first_after(rule, calendar, due, now))
    if rule.misfire is Misfire.FIRE_ONCE or following is None or following > now:
        return Firing(due, first_after(rule, calendar, due, now))
    missed = latest(rule, calendar, due, now, rule.catch_up_max)
    if missed and missed[0] > due:  # Drop older firings: continue at the first one within the limit.
        return Firing(None, missed[0])
    return Firing(due, following)


def latest(rule: Rule, calendar: Calendar, due: datetime, now: datetime, limit: int) -> list[datetime]:
    """The last firings up to `now`, at most `limit`, not before `due`, ascending."""
    if rule.interval is not None:
        last = due + rule.interval * ((now - due) // rule.interval)
        found = [last - rule.interval * step for step in range(limit)]
        return [moment for moment in reversed(found) if moment >= due]
    window = timedelta(minutes=1)
    while True:  # Doubling the window avoids iterating over a long period of frequent firings.
        start = max(due - timedelta(microseconds=1), now - window)
        inside: deque[datetime] = deque(_until(dues(rule, calendar, start), now), maxlen=limit)
        if len(inside) == limit or start < due:
            return list(inside)
        window *= 2


def _until(moments: Iterable[datetime], end: datetime) -> Iterator[datetime]:
    for moment in moments:
        if moment > end:
            return
        yield moment


def upcoming(rule: Rule, calendar: Calendar, due: datetime | None, count: int) -> list[datetime]:
    """The next firings, beginning with the due one."""
    if due is None:
        return []
    return [due, *islice(dues(rule, calendar, due), count - 1)][:count]


# -- names -------------------------------------------------------------------------------------------------------------


def schedule_id(definition_id: str, activity_id: str) -> str:
    return _fitting(f"{definition_id}:{activity_id}", 40)


def instance_id(schedule: str, due: datetime) -> str:
    """Derived from trigger and due time, so that two nodes, a re-index or a restart start the same instance (rule M20)."""
    return _fitting(f"{schedule}:{due:%Y%m%dT%H%M%S}.{due.microsecond:06d}", ID_LENGTH_MAX)


def _fitting(text: str, length: int) -> str:
    """The text as an id, or its hash if it is too long or has invalid characters."""
    if len(text) <= length and is_id(text):
        return text
    return blake2b(text.encode(), digest_size=15).hexdigest()
