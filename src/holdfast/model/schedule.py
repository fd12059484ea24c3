"""Schedules: when a trigger of time fires next, and what becomes of firings that were missed.

A schedule is one row of the store (rule M20); its payload is a `Rule`, written at publish. Due times follow from due times,
never from the moment of firing: a schedule that is late does not drift.
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
    """What becomes of firings that were missed while nobody ran."""

    FIRE_ONCE = "fire_once"
    """One start stands for all of them."""
    SKIP = "skip"
    CATCH_UP = "catch_up"
    """A start for each, at most so many, the latest."""


class Calendar(Protocol):
    def check(self, expression: str, zone: str) -> None: ...
    def next(self, expression: str, zone: str, after: datetime) -> datetime | None: ...


class Rule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A trigger of time, as it is stored."""

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
    """From what the trigger said at publish. Raises `InvalidCron`."""
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


# -- when --------------------------------------------------------------------------------------------------------------


def next_due(rule: Rule, calendar: Calendar, after: datetime) -> datetime | None:
    """The first firing after that moment: for a timer, `after` is its last one."""
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
    """The first firing after now, of a schedule that was due at `due`: a timer keeps its beat."""
    if rule.interval is not None:
        return due + rule.interval * ((now - due) // rule.interval + 1)
    return next_due(rule, calendar, now)


class Firing(Struct, frozen=True):
    """What to do with a schedule that is due."""

    start: datetime | None
    """The due time to start for; None starts nothing."""
    next_due: datetime | None


def decide(rule: Rule, calendar: Calendar, due: datetime, now: datetime, patience: timedelta) -> Firing:
    """A firing that is late by no more than `patience` is on time, whatever the policy."""
    following = next_due(rule, calendar, due)
    if now - due <= patience:
        return Firing(due, following)
    if rule.misfire is Misfire.SKIP:
        return Firing(None, first_after(rule, calendar, due, now))
    if rule.misfire is Misfire.FIRE_ONCE or following is None or following > now:
        return Firing(due, first_after(rule, calendar, due, now))
    missed = latest(rule, calendar, due, now, rule.catch_up_max)
    if missed and missed[0] > due:  # Older ones are let go: begin with the first that is wanted.
        return Firing(None, missed[0])
    return Firing(due, following)


def latest(rule: Rule, calendar: Calendar, due: datetime, now: datetime, limit: int) -> list[datetime]:
    """The last firings up to now, at most so many, not before `due`; ascending."""
    if rule.interval is not None:
        last = due + rule.interval * ((now - due) // rule.interval)
        found = [last - rule.interval * step for step in range(limit)]
        return [moment for moment in reversed(found) if moment >= due]
    window = timedelta(minutes=1)
    while True:  # The window doubles until enough are in it: nobody walks through a year of seconds.
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
    """The next firings, the due one first."""
    if due is None:
        return []
    return [due, *islice(dues(rule, calendar, due), count - 1)][:count]


# -- names -------------------------------------------------------------------------------------------------------------


def schedule_id(definition_id: str, activity_id: str) -> str:
    return _fitting(f"{definition_id}:{activity_id}", 40)


def instance_id(schedule: str, due: datetime) -> str:
    """Made of trigger and due time: two nodes, a re-index and a restart start the same instance, hence one (rule M20)."""
    return _fitting(f"{schedule}:{due:%Y%m%dT%H%M%S}.{due.microsecond:06d}", ID_LENGTH_MAX)


def _fitting(text: str, length: int) -> str:
    """An id of that text; one that is too long, or of other letters, by its hash."""
    if len(text) <= length and is_id(text):
        return text
    return blake2b(text.encode(), digest_size=15).hexdigest()
