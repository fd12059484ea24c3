"""Rows that cause execution: work, effects, inbox, outbox, schedules, dead letters."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from holdfast.model.stored import DEFAULT_TENANT

DEFAULT_QUEUE = "default"


def queue_of(tenant: str, queue: str = DEFAULT_QUEUE) -> str:
    """The queue of a tenant's work. A node that serves one tenant does not have to scan the backlog of another."""
    return f"{queue}@{tenant}" if tenant else queue


def tenant_of(queue: str) -> str:
    """The tenant of a queue as work rows name it."""
    return queue.rpartition("@")[2] if "@" in queue else DEFAULT_TENANT


def home_queue(tenant: str, home: str | None) -> str:
    """The queue of an instance's own work: the queue of its start, or the default queue."""
    return queue_of(tenant, home or DEFAULT_QUEUE)


class WorkKind(StrEnum):
    """Kinds of work that the engine enqueues. Stores treat the kind as an opaque text."""

    START = "start"
    RESUME = "resume"
    STIMULUS = "stimulus"
    TIMER = "timer"
    RETRY = "retry"
    CONTINUE = "continue"
    STEP = "step"
    CANCEL = "cancel"
    BEGIN = "begin"
    """Begin a pending instance."""
    UNREAD = "unread"
    """Check the stored stimuli of an instance."""
    RUN = "run"
    """Continue a dispatched instance."""
    MAIL = "mail"
    """Deliver kept stimuli of one address."""
    ALTERATION = "alteration"
    """The next page of an alteration plan."""


class WorkRow(Struct, frozen=True, kw_only=True):
    """One unit of work: a start, stimulus, timer, retry or step. The commit of its result deletes it."""

    tenant: str = DEFAULT_TENANT
    id: str
    kind: str
    queue: str = DEFAULT_QUEUE
    due: datetime | None = None
    """None: due now, ordered by priority, then id. Otherwise due at that time, ordered by time."""
    priority: int = 0
    """Higher runs first."""
    instance_id: str | None = None
    bookmark_seq: int | None = None
    """For a timer: the bookmark it resumes. A timer is a hint and is obsolete without its bookmark."""
    content: str = ""
    """Content of the definition that is needed; nodes without its code leave the row to others."""
    attempts: int = 0
    created: datetime
    payload: bytes = b""


class Owner(NamedTuple):
    """Owner of an effect: a node and its boot number. `NO_OWNER` while the effect waits on a queue."""

    node: str
    boot: int


NO_OWNER = Owner("", 0)
CANCELED = "cancel"
"""`on_lost` of a canceled effect: it does not run again, only its end is recorded."""


class EffectRef(NamedTuple):
    """Identity of a result. It counts only while the stored row has this attempt and this owner."""

    execution: int
    attempt: int
    owner: Owner


class EffectRow(Struct, frozen=True):
    """An execution with external effects, stored before it starts. Key: (tenant, instance, execution)."""

    instance_id: str
    execution: int
    """Number within the instance; equal for every attempt."""
    activity_id: str
    type: str
    created: datetime
    attempt: int = 1
    owner: Owner = NO_OWNER
    queue: str = ""
    """Queue of the step; empty runs it inline."""
    on_lost: str = "retry"
    deadline: datetime | None = None
    inputs: bytes = b""
    """Evaluated once and reused by every attempt."""
    tenant: str = DEFAULT_TENANT

    @property
    def ref(self) -> EffectRef:
        return EffectRef(self.execution, self.attempt, self.owner)

    @property
    def canceled(self) -> bool:
        """Whether the instance waits only for the end of this effect."""
        return self.on_lost == CANCELED


class InboxRow(Struct, frozen=True, kw_only=True):
    """A stimulus without a matching bookmark so far. It matches bookmarks of its tenant and key; if it has an instance or a
    correlation, only theirs."""

    tenant: str = DEFAULT_TENANT
    id: str
    """Id of the stimulus; one row per stimulus."""
    address: int = 0
    """Hash of the address. Stimuli of one address are delivered in the order in which they were stored (rule H16)."""
    key: int
    correlation: int = 0
    instance_id: str | None = None
    type: str
    arrived: datetime
    expires: datetime | None = None
    """None: stored until its instance ends."""
    due: datetime | None = None
    """A delayed stimulus fits no bookmark before this time, by the store's clock."""
    payload: bytes = b""


class OutboxRow(Struct, frozen=True, kw_only=True):
    """A committed message that is still to be published: to a broker or a webhook."""

    tenant: str = DEFAULT_TENANT
    id: str
    topic: str
    instance_id: str | None = None
    created: datetime
    attempts: int = 0
    payload: bytes = b""


class ScheduleRow(Struct, frozen=True, kw_only=True):
    """A recurring start: one row per (definition, trigger). Only a commit that names the stored due time advances it."""

    tenant: str = DEFAULT_TENANT
    id: str
    definition_id: str
    due: datetime | None
    """None: disabled, or no further firing."""
    fired: datetime | None = None
    payload: bytes = b""


class ScheduleStep(NamedTuple):
    """A firing as a guard of the commit of the start: (stored due time) → (next due time)."""

    schedule_id: str
    due: datetime
    next_due: datetime | None


class DeadLetterRow(Struct, frozen=True, kw_only=True):
    """Work that failed permanently, unchanged, with the reason. Replay enqueues it again."""

    work: WorkRow
    reason: str
    """A short code: `attempts`, `unreadable`, `process-died` …"""
    died: datetime
    error: bytes = b""
    """Message and traceback, encoded."""
