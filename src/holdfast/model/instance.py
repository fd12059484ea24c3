"""Instances as clients see them: status, bookmarks, incidents, journal."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct


class _StatusAttributes(StrEnum):
    """Plain attributes, read in every burst: an enum property, and the hash of a member, would each be a call."""

    at_rest: bool
    """Whether the instance has ended. Only a retry of a faulted instance moves it again."""
    word: str
    """`value` as a plain attribute."""


class Status(_StatusAttributes):
    """Status of an instance."""

    PENDING = "pending"
    RUNNING = "running"
    SUSPENDED = "suspended"
    FINISHED = "finished"
    FAULTED = "faulted"
    CANCELED = "canceled"
    CANCELING = "canceling"
    """Canceled; its running effects, then its `finally` parts and compensations have to end."""


for _status in Status:
    _status.word = _status.value
    _status.at_rest = _status in (Status.FINISHED, Status.FAULTED, Status.CANCELED)

TRANSITIONS: Mapping[Status, frozenset[Status]] = {  # The unit tests check every run against this table.
    Status.PENDING: frozenset({Status.RUNNING, Status.CANCELING, Status.CANCELED}),
    Status.RUNNING: frozenset({Status.SUSPENDED, Status.FINISHED, Status.FAULTED, Status.CANCELING, Status.CANCELED}),
    Status.SUSPENDED: frozenset({Status.RUNNING, Status.CANCELING, Status.CANCELED}),
    Status.FAULTED: frozenset({Status.RUNNING, Status.CANCELING, Status.CANCELED}),
    Status.CANCELING: frozenset({Status.CANCELED}),
    Status.FINISHED: frozenset(),
    Status.CANCELED: frozenset(),
}


class BookmarkKind(StrEnum):
    ACTIVITY = "activity"
    """An activity waits for a stimulus."""
    RETRY = "retry"
    """A failed activity waits for its next attempt."""
    TIMEOUT = "timeout"
    """The timeout of an activity."""
    CHILD = "child"
    """An activity waits for an instance that it started."""


class Bookmark(Struct, frozen=True, omit_defaults=True):
    """A wait of an instance and the stimulus that ends it."""

    id: str
    name: str
    """The stimulus type; by default the type of the activity."""
    activity_id: str
    execution_id: int
    kind: BookmarkKind = BookmarkKind.ACTIVITY
    payload: Any = None
    hash: str = ""
    """Hash of name and payload; equal on every machine."""
    due: datetime | None = None
    """Time at which it resumes without a stimulus; None waits for a stimulus."""
    auto_burn: bool = True
    auto_complete: bool = True
    callback: str | None = None
    metadata: Mapping[str, Any] = {}


LOST = "lost"
"""Type of the incident for a held effect."""
MIDDLEWARE = "middleware"
"""Type of the incident for an error of workflow middleware."""


class Incident(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A fault, stored with the instance until it is resolved."""

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
    """Inputs of the activity with masked secrets."""
    details: Mapping[str, Any] = {}


class JournalEvent(StrEnum):
    """Events of the journal. Stored journals refer to them by position: append new ones, never remove one."""

    STARTED = "started"
    COMPLETED = "completed"
    SUSPENDED = "suspended"
    RESUMED = "resumed"
    FAULTED = "faulted"
    CANCELED = "canceled"
    COMPENSATED = "compensated"
    DECIDED = "decided"
    """A condition was evaluated: the values it read and the outcome."""
    WAITING = "waiting"
    """A join waits, with the branches it waits for."""
    SKIPPED = "skipped"
    """No active path leads to this activity any more."""
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
    """An operator acted on the instance: verb, principal and reason."""
    TAKEN_OVER = "taken_over"
    """The node that ran an effect died; another node continues it."""
    UNREAD = "unread"
    """A stimulus that was stored for the instance expired unread because the instance ended without waiting for it. Also: a
    stimulus that the instance sent to itself did not match the declared type."""
    INSTANCE_CANCELING = "instance_canceling"
    """The instance is canceled; `finally` parts and compensations follow when its effects have ended."""
    EFFECT_ENDED = "effect_ended"
    """A canceled effect has ended: finished, canceled, lost or faulted. Its result is dropped."""


class JournalEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of the journal: event, activity, time and values."""

    sequence: int
    event: JournalEvent
    at: datetime
    activity_id: str | None = None
    activity_type: str | None = None
    activity_name: str | None = None
    execution_id: int | None = None
    data: Any = None


def moment(nanoseconds: int) -> datetime:
    """Aware datetime (UTC) from nanoseconds since 1970."""
    # The float keeps whole microseconds: its rounding error is below half a microsecond until the year 2242.
    return datetime.fromtimestamp(nanoseconds // 1_000 / 1_000_000, UTC)
