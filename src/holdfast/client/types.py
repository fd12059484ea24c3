"""Types of the server's responses, generated from its OpenAPI document by `make openapi`. Do not edit.

Fields that a newer server adds are skipped.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Page(Struct, Generic[T], frozen=True, kw_only=True):
    items: list[T]
    total: int
    """How many there are in all, with these filters."""
    next: str | None = None
    """The cursor of the next page; null on the last one."""
    stale: bool = False
    """The list has not yet seen the position that was asked for."""


class ActivityState(Struct, frozen=True, kw_only=True):
    """An activity that lives: a container with running children, or one that waits."""

    execution_id: int
    activity_id: str
    type: str
    name: str | None = None
    status: str
    attempt: int = 1
    scheduled_by: int | None = None
    """Execution id of the container that runs it."""
    waits_for: str = "children"


class BookmarkItem(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    activity_id: str
    execution_id: int | None = None
    kind: str = "activity"
    payload: Any = None
    due: datetime | None = None
    created: datetime | None = None
    instance_id: str
    resume_url: str | None = None


class BulkFailure(Struct, frozen=True, kw_only=True):
    id: str
    code: str
    message: str


class DeadLetterItem(Struct, frozen=True, kw_only=True):
    id: str
    kind: str
    queue: str
    instance_id: str | None = None
    reason: str
    died: datetime
    created: datetime
    attempts: int
    error: Any = None
    payload: Any = None


class DefinitionDetail(Struct, frozen=True, kw_only=True):
    summary: DefinitionSummary
    document: dict[str, Any]
    etag: str


class DefinitionSummary(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    description: str | None = None
    version: int
    latest_version: int
    published_version: int | None = None
    is_published: bool
    """This version is the published one."""
    has_draft: bool
    """There is a version later than the published one."""
    folder: str = ""
    labels: list[str] = []
    origin: str = "api"
    updated: datetime
    content_hash: str
    tools: dict[str, str] = {}
    """Tools that wrote it, with their versions."""
    usable_as_activity: bool = False
    activity_count: int = 0


class DispatchResult(Struct, frozen=True, kw_only=True):
    instance_ids: list[str]
    status: str = "pending"
    existing: bool = False
    """Nothing new: the key or the place belongs to this instance."""


class Done(Struct, frozen=True, kw_only=True):
    """How many were done."""

    count: int
    missing: list[str] = []
    """Ids of which there is none (any more)."""


class ExpiredStimulusItem(Struct, frozen=True, kw_only=True):
    """A stimulus that was kept, and that nobody came for."""

    id: str
    type: str
    event_name: str | None = None
    correlation_id: str | None = None
    key: Any = None
    arrived: datetime
    expired: datetime


class ImportedInstance(Struct, frozen=True, kw_only=True):
    id: str
    position: int


class IncidentItem(Struct, frozen=True, kw_only=True):
    id: str
    instance_id: str
    type: str
    message: str
    at: datetime
    open: bool = True
    activity_id: str | None = None
    activity_type: str | None = None
    activity_name: str | None = None
    execution_id: int | None = None
    attempt: int = 1
    source: str | None = None
    inputs: dict[str, Any] = {}
    details: dict[str, Any] = {}


class InstanceDetail(Struct, frozen=True, kw_only=True):
    id: str
    definition_id: str
    definition_name: str
    definition_version: int
    status: str
    correlation_id: str | None = None
    name: str | None = None
    parent_id: str | None = None
    incidents: int
    """How many are open."""
    created: datetime
    updated: datetime
    finished: datetime | None = None
    version: int
    state: InstanceState
    definition: PinnedDefinition
    document: dict[str, Any]
    """The definition that this instance is pinned to."""
    waiting_for: str | None = None
    """In words, what has to happen for it to go on."""
    waits: list[WaitItem] = []
    """The same, one by one."""
    position: int
    unreadable: str | None = None
    """Why the state cannot be shown on this node."""


class InstanceItem(Struct, frozen=True, kw_only=True):
    id: str
    definition_id: str
    definition_name: str
    definition_version: int
    status: str
    correlation_id: str | None = None
    name: str | None = None
    parent_id: str | None = None
    incidents: int
    """How many are open."""
    created: datetime
    updated: datetime
    finished: datetime | None = None
    version: int


class InstanceResult(Struct, frozen=True, kw_only=True):
    """What an instance is after a request that changed it."""

    instance_id: str
    status: str
    outputs: dict[str, Any] = {}
    incidents: list[IncidentItem] = []
    bookmarks: list[BookmarkItem] = []
    position: int


class InstanceState(Struct, frozen=True, kw_only=True):
    variables: dict[str, Any] = {}
    inputs: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    activities: list[ActivityState] = []
    bookmarks: list[BookmarkItem] = []
    incidents: list[IncidentItem] = []


class InstancesBulkResult(Struct, frozen=True, kw_only=True):
    """What became of many: each in a commit of its own."""

    changed: int
    unchanged: int
    """Did not fit any more, or there was nothing to do."""
    failed: list[BulkFailure]


class JournalItem(Struct, frozen=True, kw_only=True):
    sequence: int
    version: int
    at: datetime
    event: str
    activity_id: str | None = None
    execution_id: int | None = None
    attempt: int | None = None
    name: str | None = None
    type: str | None = None
    why: Any = None
    data: Any = None


class JournalPage(Struct, frozen=True, kw_only=True):
    entries: list[JournalItem]
    next: int | None
    """Ask with `after` = this for more; null: that was all."""


class MomentDetail(Struct, frozen=True, kw_only=True):
    """The instance as one commit left it."""

    version: int
    status: str
    state: InstanceState
    document: dict[str, Any]
    """The definition that it was pinned to then."""


class MomentItem(Struct, frozen=True, kw_only=True):
    """A version of an instance whose state is kept."""

    version: int
    at: datetime
    status: str


class MomentList(Struct, frozen=True, kw_only=True):
    items: list[MomentItem]
    kept: bool
    """Whether this server keeps the states of what it commits now."""


class NextTimes(Struct, frozen=True, kw_only=True):
    times: list[datetime]
    description: str | None = None


class PinnedDefinition(Struct, frozen=True, kw_only=True):
    id: str
    version: int
    content: str


class PublishResult(Struct, frozen=True, kw_only=True):
    summary: DefinitionSummary
    triggers: int
    live_instances: int
    """Instances of earlier versions that have not ended; they stay on theirs."""


class Receipt(Struct, frozen=True, kw_only=True):
    """It was accepted, durably; whoever takes it up matches it."""

    stimulus_id: str
    existing: bool = False
    """It had been accepted before, with the same key."""


class ScheduleItem(Struct, frozen=True, kw_only=True):
    id: str
    definition_id: str
    definition_name: str
    activity_id: str
    activity_name: str | None = None
    type: str
    """Timer, Cron or StartAt."""
    rule: str
    """The cron expression, the interval or the moment."""
    zone: str
    misfire: str
    due: datetime | None = None
    """null: paused, or never again."""
    fired: datetime | None = None
    paused: bool = False


class StartedNow(Struct, frozen=True, kw_only=True):
    instance_id: str


class TaskItem(Struct, frozen=True, kw_only=True):
    id: str
    title: str
    description: str | None = None
    assignee: str | None = None
    role: str | None = None
    state: str
    form: dict[str, Any] | None = None
    """JSON Schema of the answer."""
    due: datetime | None = None
    created: datetime
    instance_id: str
    definition_id: str
    definition_name: str
    activity_id: str
    claimed_by: str | None = None
    completed_by: str | None = None
    about: Any = None
    """What it is about, to be shown with the form."""
    answer: Any = None


class WaitItem(Struct, frozen=True, kw_only=True):
    """One thing that has to happen for an instance to go on."""

    what: str
    """In words, without the time; empty: only the time has to come."""
    activity_id: str | None = None
    """The activity that waits."""
    due: datetime | None = None
    """When it goes on by itself."""
    child_id: str | None = None
    """The instance that has to end."""
