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
    total: int | None = None
    """Total number of rows that match the filters. Long lists count only if `total=true` is given."""
    next: str | None = None
    """Cursor of the next page; null on the last page."""
    stale: bool = False
    """The list does not yet include the requested position."""
    capped: bool = False
    """More rows begin with the searched text than were compared. Search for a longer text."""


class ActivityState(Struct, frozen=True, kw_only=True):
    """A live activity: a container with running children, or a waiting activity."""

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
    """A version later than the published one exists."""
    folder: str = ""
    labels: list[str] = []
    origin: str = "api"
    updated: datetime
    content_hash: str
    tools: dict[str, str] = {}
    """Tools that wrote the document, with their versions."""
    usable_as_activity: bool = False
    activity_count: int = 0


class DispatchResult(Struct, frozen=True, kw_only=True):
    instance_ids: list[str]
    status: str = "pending"
    existing: bool = False
    """Nothing was started: this instance holds the idempotency key or the activation slot."""


class Done(Struct, frozen=True, kw_only=True):
    """Number of processed items."""

    count: int
    missing: list[str] = []
    """Ids that do not exist."""


class ExpiredStimulusItem(Struct, frozen=True, kw_only=True):
    """A stimulus that expired without a match."""

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
    """Number of open incidents."""
    created: datetime
    updated: datetime
    finished: datetime | None = None
    version: int
    state: InstanceState
    definition: PinnedDefinition
    document: dict[str, Any]
    """The definition that this instance is pinned to."""
    waiting_for: str | None = None
    """Description of all conditions that the instance waits for."""
    waits: list[WaitItem] = []
    """The conditions of `waiting_for`, one by one."""
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
    """Number of open incidents."""
    created: datetime
    updated: datetime
    finished: datetime | None = None
    version: int


class InstanceResult(Struct, frozen=True, kw_only=True):
    """An instance after a request that changed it."""

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
    properties: dict[str, Any] = {}
    """Properties that the starter and activities have set."""
    activities: list[ActivityState] = []
    bookmarks: list[BookmarkItem] = []
    incidents: list[IncidentItem] = []


class InstancesBulkResult(Struct, frozen=True, kw_only=True):
    """Outcome of a bulk request: each instance changes in a commit of its own."""

    changed: int
    unchanged: int
    """Instances that no longer matched, or that needed no change."""
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
    """Value of `after` for the next page; null on the last page."""
    skip: int = 0
    """Value of `skip` for the next page."""


class MomentDetail(Struct, frozen=True, kw_only=True):
    """The instance as of one commit."""

    version: int
    status: str
    state: InstanceState
    document: dict[str, Any]
    """The definition that the instance was pinned to at that version."""


class MomentItem(Struct, frozen=True, kw_only=True):
    """A version of an instance with a stored state."""

    version: int
    at: datetime
    status: str


class MomentList(Struct, frozen=True, kw_only=True):
    items: list[MomentItem]
    kept: bool
    """Whether this server currently stores the state of every commit."""


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
    """Live instances of earlier versions; they keep their version."""
    consumers_updated: list[str] = []
    """Definitions that use this workflow as an activity and were published again with it."""
    consumers_refused: dict[str, str] = {}
    """Definitions that could not be published again, with the reason."""


class Receipt(Struct, frozen=True, kw_only=True):
    """A durably accepted stimulus; a node matches it later."""

    stimulus_id: str
    existing: bool = False
    """A stimulus with the same key was accepted before."""


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
    """Next time; null if the schedule is paused or has ended."""
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
    """Subject of the task, shown with the form."""
    answer: Any = None


class WaitItem(Struct, frozen=True, kw_only=True):
    """One condition that an instance waits for."""

    what: str
    """Description of the condition, without the time; empty if the instance only waits until `due`."""
    activity_id: str | None = None
    """The waiting activity."""
    due: datetime | None = None
    """Time at which the instance continues by itself."""
    child_id: str | None = None
    """The instance that has to end first."""
