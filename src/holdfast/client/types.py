"""What the server answers, as types. Fields that a newer server adds are skipped; see `/api/openapi.json` for all."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Page(Struct, Generic[T], frozen=True, kw_only=True):
    items: list[T]
    total: int
    next: str | None = None
    stale: bool = False


class DefinitionSummary(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    version: int
    latest_version: int
    published_version: int | None = None
    is_published: bool
    has_draft: bool
    description: str | None = None
    folder: str = ""
    labels: list[str] = []
    origin: str = "api"
    updated: datetime
    content_hash: str


class DefinitionDetail(Struct, frozen=True, kw_only=True):
    summary: DefinitionSummary
    document: dict[str, Any]
    etag: str


class PublishResult(Struct, frozen=True, kw_only=True):
    summary: DefinitionSummary
    triggers: int
    live_instances: int


class DispatchResult(Struct, frozen=True, kw_only=True):
    instance_ids: list[str]
    status: str = "pending"
    existing: bool = False


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
    created: datetime
    updated: datetime
    finished: datetime | None = None
    version: int


class BookmarkItem(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    activity_id: str
    instance_id: str
    kind: str = "activity"
    payload: Any = None
    due: datetime | None = None


class IncidentItem(Struct, frozen=True, kw_only=True):
    id: str
    instance_id: str
    type: str
    message: str
    at: datetime
    open: bool = True
    activity_id: str | None = None
    source: str | None = None


class InstanceState(Struct, frozen=True, kw_only=True):
    variables: dict[str, Any] = {}
    inputs: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    bookmarks: list[BookmarkItem] = []
    incidents: list[IncidentItem] = []


class InstanceDetail(InstanceItem, frozen=True, kw_only=True):
    state: InstanceState
    waiting_for: str | None = None
    position: int
    unreadable: str | None = None
    """Why the state cannot be shown where it was asked for."""


class InstanceResult(Struct, frozen=True, kw_only=True):
    """What an instance is after a request that changed it."""

    instance_id: str
    status: str
    outputs: dict[str, Any] = {}
    incidents: list[IncidentItem] = []
    bookmarks: list[BookmarkItem] = []
    position: int


class ImportedInstance(Struct, frozen=True, kw_only=True):
    id: str
    position: int


class MomentItem(Struct, frozen=True, kw_only=True):
    version: int
    at: datetime
    status: str


class MomentList(Struct, frozen=True, kw_only=True):
    items: list[MomentItem]
    kept: bool


class MomentDetail(Struct, frozen=True, kw_only=True):
    """An instance as one commit left it."""

    version: int
    status: str
    state: InstanceState
    document: dict[str, Any]


class JournalItem(Struct, frozen=True, kw_only=True):
    sequence: int
    version: int
    at: datetime
    event: str
    activity_id: str | None = None
    execution_id: int | None = None
    name: str | None = None
    type: str | None = None
    why: Any = None
    data: Any = None


class JournalPage(Struct, frozen=True, kw_only=True):
    entries: list[JournalItem]
    next: int | None = None


class BulkFailure(Struct, frozen=True, kw_only=True):
    id: str
    code: str
    message: str


class InstancesBulkResult(Struct, frozen=True, kw_only=True):
    changed: int
    unchanged: int
    """Did not fit any more, or there was nothing to do."""
    failed: list[BulkFailure]


class TaskItem(Struct, frozen=True, kw_only=True):
    id: str
    title: str
    state: str
    instance_id: str
    definition_id: str
    definition_name: str
    activity_id: str
    created: datetime
    description: str | None = None
    assignee: str | None = None
    role: str | None = None
    form: dict[str, Any] | None = None
    due: datetime | None = None
    claimed_by: str | None = None
    completed_by: str | None = None
    answer: Any = None


class Receipt(Struct, frozen=True, kw_only=True):
    stimulus_id: str
    existing: bool = False


class ExpiredStimulusItem(Struct, frozen=True, kw_only=True):
    id: str
    type: str
    event_name: str | None = None
    correlation_id: str | None = None
    key: Any = None
    arrived: datetime
    expired: datetime


class ScheduleItem(Struct, frozen=True, kw_only=True):
    id: str
    definition_id: str
    definition_name: str
    activity_id: str
    activity_name: str | None = None
    type: str
    rule: str
    zone: str
    misfire: str
    due: datetime | None = None
    fired: datetime | None = None
    paused: bool = False


class StartedNow(Struct, frozen=True, kw_only=True):
    instance_id: str


class NextTimes(Struct, frozen=True, kw_only=True):
    times: list[datetime]
    description: str | None = None


class DeadLetterItem(Struct, frozen=True, kw_only=True):
    id: str
    kind: str
    queue: str
    reason: str
    died: datetime
    attempts: int
    instance_id: str | None = None
    error: Any = None


class Done(Struct, frozen=True, kw_only=True):
    count: int
    missing: list[str] = []
    """Ids of which there is none (any more)."""
