"""Rows that make something happen: work, effects, inbox, outbox, schedules, dead letters."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from holdfast.model.stored import DEFAULT_TENANT

DEFAULT_QUEUE = "default"


def queue_of(tenant: str, queue: str = DEFAULT_QUEUE) -> str:
    """The queue of a tenant's work: a node that serves one tenant does not wade through the backlog of another."""
    return f"{queue}@{tenant}" if tenant else queue


class WorkKind(StrEnum):
    """What the engine puts on the work table. To a store it is a word; other words are as good."""

    START = "start"
    RESUME = "resume"
    STIMULUS = "stimulus"
    TIMER = "timer"
    RETRY = "retry"
    CONTINUE = "continue"
    STEP = "step"
    CANCEL = "cancel"
    BEGIN = "begin"
    """A pending instance begins."""
    UNREAD = "unread"
    """What is kept for an instance is looked after."""
    RUN = "run"
    """A dispatched instance goes on."""
    ALTERATION = "alteration"
    """The next page of an alteration plan."""


class WorkRow(Struct, frozen=True, kw_only=True):
    """One thing to do: a start, a stimulus, a timer, a retry, a step. Deleted by the commit that did it."""

    tenant: str = DEFAULT_TENANT
    id: str
    kind: str
    queue: str = DEFAULT_QUEUE
    due: datetime | None = None
    """None: at once, in order of priority, then of ids. A moment: not before, in order of that moment."""
    priority: int = 0
    """Higher goes first."""
    instance_id: str | None = None
    bookmark_seq: int | None = None
    """For a timer: the bookmark that it wakes. A timer is a hint; gone with its bookmark."""
    content: str = ""
    """The definition's content that is needed to do it; nodes that lack its code leave the row to others."""
    attempts: int = 0
    created: datetime
    payload: bytes = b""


class Owner(NamedTuple):
    """Who works on an effect: a node in one of its lives. `NOBODY` while it waits on a queue."""

    node: str
    boot: int


NOBODY = Owner("", 0)


class EffectRef(NamedTuple):
    """The claim of a result: it counts only while the stored row still names this attempt and this owner."""

    execution: int
    attempt: int
    owner: Owner


class EffectRow(Struct, frozen=True):
    """An execution that touches the world, written before it starts. Key: (tenant, instance, execution)."""

    instance_id: str
    execution: int
    """Counted in the instance's state: the same for every attempt."""
    activity_id: str
    type: str
    created: datetime
    attempt: int = 1
    owner: Owner = NOBODY
    queue: str = ""
    """The queue that carries it; empty runs it inline."""
    on_lost: str = "retry"
    deadline: datetime | None = None
    inputs: bytes = b""
    """Evaluated once; every attempt uses them."""
    tenant: str = DEFAULT_TENANT

    @property
    def ref(self) -> EffectRef:
        return EffectRef(self.execution, self.attempt, self.owner)


class InboxRow(Struct, frozen=True, kw_only=True):
    """A stimulus that found no bookmark yet. It fits a bookmark of its tenant and key: of its instance if it names
    one, of its correlation if it carries one."""

    tenant: str = DEFAULT_TENANT
    id: str
    """The stimulus' id; the same stimulus is kept once."""
    key: int
    correlation: int = 0
    instance_id: str | None = None
    type: str
    arrived: datetime
    expires: datetime | None = None
    """None: kept as long as its instance lives."""
    payload: bytes = b""


class OutboxRow(Struct, frozen=True, kw_only=True):
    """Committed, and still to leave the database: a broker's message, a webhook."""

    tenant: str = DEFAULT_TENANT
    id: str
    topic: str
    instance_id: str | None = None
    created: datetime
    attempts: int = 0
    payload: bytes = b""


class ScheduleRow(Struct, frozen=True, kw_only=True):
    """A recurring start: one row per (definition, trigger). Only a commit that names the stored due time moves it."""

    tenant: str = DEFAULT_TENANT
    id: str
    definition_id: str
    due: datetime | None
    """None: switched off, or never again."""
    fired: datetime | None = None
    payload: bytes = b""


class ScheduleStep(NamedTuple):
    """The firing of a schedule, as a guard of the start's commit: (stored due time) → (next due time)."""

    schedule_id: str
    due: datetime
    next_due: datetime | None


class DeadLetterRow(Struct, frozen=True, kw_only=True):
    """Work that failed for good, as it was, with the reason. Replay puts the row back."""

    work: WorkRow
    reason: str
    """A short code: `attempts`, `unreadable`, `process-died` …"""
    died: datetime
    error: bytes = b""
    """Message and traceback, encoded."""
