"""One execution of one definition version, as others see it: status, bookmarks, incidents, journal."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct


class _Known(StrEnum):
    """What is asked of a status for every burst, as plain attributes: a property of an enumeration, and its hash, are calls."""

    at_rest: bool
    """The instance has ended; only a retry of a faulted one moves it again."""
    word: str
    """The value."""


class Status(_Known):
    """Where an instance is in its life."""

    PENDING = "pending"
    RUNNING = "running"
    SUSPENDED = "suspended"
    FINISHED = "finished"
    FAULTED = "faulted"
    CANCELED = "canceled"


for _status in Status:
    _status.word = _status.value
    _status.at_rest = _status in (Status.FINISHED, Status.FAULTED, Status.CANCELED)

TRANSITIONS: Mapping[Status, frozenset[Status]] = {  # Every unit test of a run watches that nothing else happens.
    Status.PENDING: frozenset({Status.RUNNING, Status.CANCELED}),
    Status.RUNNING: frozenset({Status.SUSPENDED, Status.FINISHED, Status.FAULTED, Status.CANCELED}),
    Status.SUSPENDED: frozenset({Status.RUNNING, Status.CANCELED}),
    Status.FAULTED: frozenset({Status.RUNNING, Status.CANCELED}),
    Status.FINISHED: frozenset(),
    Status.CANCELED: frozenset(),
}


class BookmarkKind(StrEnum):
    ACTIVITY = "activity"
    """An activity waits for a stimulus."""
    RETRY = "retry"
    """A failed activity waits for its next attempt."""
    TIMEOUT = "timeout"
    """The end of an activity's patience."""
    CHILD = "child"
    """An activity waits for an instance that it started."""


class Bookmark(Struct, frozen=True, omit_defaults=True):
    """Where an instance sleeps, and what wakes it."""

    id: str
    name: str
    """The stimulus type; the activity's type unless it says otherwise."""
    activity_id: str
    execution_id: int
    kind: BookmarkKind = BookmarkKind.ACTIVITY
    payload: Any = None
    hash: str = ""
    """Of name and payload; equal on every machine."""
    due: datetime | None = None
    """When it resumes by itself; None waits for a stimulus."""
    auto_burn: bool = True
    auto_complete: bool = True
    callback: str | None = None
    metadata: Mapping[str, Any] = {}


class Incident(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A fault, kept with the instance until someone acts on it."""

    id: str
    type: str
    """The exception's public type name, or `stuck`, `runaway`, …"""
    message: str
    at: datetime
    activity_id: str | None = None
    activity_type: str | None = None
    activity_name: str | None = None
    execution_id: int | None = None
    attempt: int = 1
    source: str | None = None
    """`file.py:12` of the code that raised, or the expression's text."""
    inputs: Mapping[str, Any] = {}
    """What the activity was given; secrets are masked."""
    details: Mapping[str, Any] = {}


class JournalEvent(StrEnum):
    """Stored journals name an event by its position here: new ones stand at the end, and none goes away."""

    STARTED = "started"
    COMPLETED = "completed"
    SUSPENDED = "suspended"
    RESUMED = "resumed"
    FAULTED = "faulted"
    CANCELED = "canceled"
    COMPENSATED = "compensated"
    DECIDED = "decided"
    """A condition was evaluated: what it saw, what followed."""
    WAITING = "waiting"
    """A join waits: for whom."""
    SKIPPED = "skipped"
    """No living path leads here any more."""
    EFFECT_RECORDED = "effect_recorded"
    EFFECT_RESULT = "effect_result"
    RESULT_DROPPED = "result_dropped"
    RETRY_SCHEDULED = "retry_scheduled"
    PUBLISHED = "published"
    LOGGED = "logged"
    INSTANCE_STARTED = "instance_started"
    INSTANCE_RESUMED = "instance_resumed"
    INSTANCE_SUSPENDED = "instance_suspended"
    INSTANCE_FINISHED = "instance_finished"
    INSTANCE_FAULTED = "instance_faulted"
    INSTANCE_CANCELED = "instance_canceled"
    INCIDENT = "incident"
    OPERATED = "operated"
    """Somebody outside acted on the instance: which verb, who, and why."""
    TAKEN_OVER = "taken_over"
    """The node that ran an effect died; another goes on with it."""
    UNREAD = "unread"
    """A stimulus was kept for the instance until it ended, and it never waited for it; or it was its own, for itself, and not
    of the shape that it waits for."""


class JournalEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the journal: what happened, to which activity, when, and with which values."""

    sequence: int
    event: JournalEvent
    at: datetime
    activity_id: str | None = None
    activity_type: str | None = None
    activity_name: str | None = None
    execution_id: int | None = None
    data: Any = None


def moment(nanoseconds: int) -> datetime:
    """An aware datetime (UTC) from nanoseconds since 1970."""
    # Whole microseconds survive the float: it rounds by less than half of one until the year 2242.
    return datetime.fromtimestamp(nanoseconds // 1_000 / 1_000_000, UTC)
