"""Payloads of instances."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import AwareDatetime, Field

from holdfast.server.schemas.base import BulkFailure, Document, Payload, Request, VersionNumber

StatusName = Literal["pending", "running", "suspended", "finished", "faulted", "canceled"]


class InstanceItem(Payload):
    id: str
    definition_id: str
    definition_name: str
    definition_version: int
    status: StatusName
    correlation_id: str | None = None
    name: str | None = None
    parent_id: str | None = None
    incidents: int = Field(description="How many are open.")
    created: datetime
    updated: datetime
    finished: datetime | None = None
    version: int


class InstanceCounts(Payload):
    by_status: dict[str, int]
    total: int


class BookmarkItem(Payload):
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


class BookmarkPage(Payload):
    """One page of bookmarks. It is the last one if `next` is null; one that is short, or empty, need not be."""

    items: list[BookmarkItem]
    total: int | None = Field(
        description="How many there are in all; null if a name is asked for of all instances: nobody counted those."
    )
    next: str | None = Field(default=None, description="The cursor of the next page; null on the last one.")


class IncidentItem(Payload):
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


class ActivityState(Payload):
    """An activity that lives: a container with running children, or one that waits."""

    execution_id: int
    activity_id: str
    type: str
    name: str | None = None
    status: str
    attempt: int = 1
    scheduled_by: int | None = Field(default=None, description="Execution id of the container that runs it.")
    waits_for: Literal["effect", "bookmark", "children", "nothing"] = "children"


class InstanceState(Payload):
    variables: dict[str, Any] = {}
    inputs: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    activities: list[ActivityState] = []
    bookmarks: list[BookmarkItem] = []
    incidents: list[IncidentItem] = []


class PinnedDefinition(Payload):
    id: str
    version: int
    content: str


class WaitItem(Payload):
    """One thing that has to happen for an instance to go on."""

    what: str = Field(description="In words, without the time; empty: only the time has to come.")
    activity_id: str | None = Field(default=None, description="The activity that waits.")
    due: datetime | None = Field(default=None, description="When it goes on by itself.")
    child_id: str | None = Field(default=None, description="The instance that has to end.")


class InstanceDetail(InstanceItem):
    state: InstanceState
    definition: PinnedDefinition
    document: Document = Field(description="The definition that this instance is pinned to.")
    waiting_for: str | None = Field(default=None, description="In words, what has to happen for it to go on.")
    waits: list[WaitItem] = Field(default=[], description="The same, one by one.")
    position: int
    unreadable: str | None = Field(default=None, description="Why the state cannot be shown on this node.")


class InstanceResult(Payload):
    """What an instance is after a request that changed it."""

    instance_id: str
    status: StatusName
    outputs: dict[str, Any] = {}
    incidents: list[IncidentItem] = []
    bookmarks: list[BookmarkItem] = []
    position: int


class ExecuteResult(InstanceResult):
    existing: bool = False


class JournalItem(Payload):
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


class JournalPage(Payload):
    entries: list[JournalItem]
    next: int | None = Field(description="Ask with `after` = this for more; null: that was all.")


class ExecutionItem(Payload):
    """One execution of one activity, told by the journal."""

    execution_id: int | None
    activity_id: str
    type: str | None = None
    name: str | None = None
    status: str
    attempt: int = 1
    inputs: Any = None
    outputs: Any = None
    outcome: Any = None
    started: datetime
    ended: datetime | None = None
    duration_ms: float | None = None
    incident_id: str | None = None


class ExecutionList(Payload):
    items: list[ExecutionItem]
    stats: dict[str, dict[str, int]] = Field(description="Per activity id: how many per status.")
    next: int | None = None


class TimelineSpan(Payload):
    activity_id: str
    execution_id: int | None = None
    name: str | None = None
    type: str | None = None
    status: str
    started: datetime
    ended: datetime | None = None


class Timeline(Payload):
    begins: datetime
    ends: datetime | None = None
    spans: list[TimelineSpan]


class MomentItem(Payload):
    """A version of an instance whose state is kept."""

    version: int
    at: datetime
    status: StatusName


class MomentList(Payload):
    items: list[MomentItem]
    kept: bool = Field(description="Whether this server keeps the states of what it commits now.")


class MomentDetail(Payload):
    """The instance as one commit left it."""

    version: int
    status: StatusName
    state: InstanceState
    document: Document = Field(description="The definition that it was pinned to then.")


# -- verbs -------------------------------------------------------------------------------------------------------------


class CancelRequest(Request):
    terminate: bool = False
    why: str | None = None


class RetryRequest(Request):
    activity_id: str | None = None
    inputs: dict[str, Any] | None = None
    why: str | None = None


class RecoverRequest(Request):
    why: str | None = None


class ResumeRequest(Request):
    bookmark_id: str | None = None
    payload: Any = None


class SkipRequest(Request):
    activity_id: str
    outcome: str | None = Field(default=None, description="Go on as if it had completed with this outcome.")
    why: str | None = None


class VariablesRequest(Request):
    variables: dict[str, Any] = Field(min_length=1)
    why: str | None = None


class AlterRequest(Request):
    alterations: list[dict[str, Any]] = Field(min_length=1, max_length=100)
    why: str | None = None


class ForkRequest(Request):
    version: int | None = Field(default=None, ge=1, lt=2**62, description="Go on from this version of the instance.")
    why: str | None = None


class InstanceFilterBody(Request):
    ids: list[str] = []
    status: list[StatusName] = []
    definition_id: list[str] = []
    version: VersionNumber | None = None
    correlation_id: list[str] = []
    parent_id: str | None = None
    has_incidents: bool | None = None
    search: str = ""
    created_after: AwareDatetime | None = None
    created_before: AwareDatetime | None = None
    updated_after: AwareDatetime | None = None
    updated_before: AwareDatetime | None = None
    finished_after: AwareDatetime | None = None
    finished_before: AwareDatetime | None = None


class InstancesBulkRequest(Request):
    action: Literal["cancel", "retry", "delete"]
    ids: list[str] = Field(default=[], max_length=10_000)
    filter: InstanceFilterBody | None = None
    terminate: bool = False
    why: str | None = None


class InstancesBulkResult(Payload):
    """What became of many: each in a commit of its own."""

    changed: int
    unchanged: int = Field(description="Did not fit any more, or there was nothing to do.")
    failed: list[BulkFailure]


class ImportedInstance(Payload):
    id: str
    position: int
