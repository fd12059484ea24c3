"""Payloads of instances."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import AwareDatetime, Field

from holdfast.server.schemas.base import BulkFailure, Document, Payload, Request, VersionNumber

StatusName = Literal["pending", "running", "suspended", "finished", "faulted", "canceling", "canceled"]


class InstanceItem(Payload):
    id: str
    definition_id: str
    definition_name: str
    definition_version: int
    status: StatusName
    correlation_id: str | None = None
    name: str | None = None
    parent_id: str | None = None
    incidents: int = Field(description="Number of open incidents.")
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
    """One page of bookmarks. `next` is null on the last page only: an earlier page may be short or empty."""

    items: list[BookmarkItem]
    total: int | None = Field(
        description="Total number of bookmarks, if `total=true` is given; null for a name filter over all instances."
    )
    next: str | None = Field(default=None, description="Cursor of the next page; null on the last page.")


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
    """A live activity: a container with running children, or a waiting activity."""

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
    properties: dict[str, Any] = Field(default={}, description="Properties that the starter and activities have set.")
    activities: list[ActivityState] = []
    bookmarks: list[BookmarkItem] = []
    incidents: list[IncidentItem] = []


class PinnedDefinition(Payload):
    id: str
    version: int
    content: str


class WaitItem(Payload):
    """One condition that an instance waits for."""

    what: str = Field(
        description="Description of the condition, without the time; empty if the instance only waits until `due`."
    )
    activity_id: str | None = Field(default=None, description="The waiting activity.")
    due: datetime | None = Field(default=None, description="Time at which the instance continues by itself.")
    child_id: str | None = Field(default=None, description="The instance that has to end first.")


class InstanceDetail(InstanceItem):
    state: InstanceState
    definition: PinnedDefinition
    document: Document = Field(description="The definition that this instance is pinned to.")
    waiting_for: str | None = Field(
        default=None, description="Description of all conditions that the instance waits for."
    )
    waits: list[WaitItem] = Field(default=[], description="The conditions of `waiting_for`, one by one.")
    position: int
    unreadable: str | None = Field(default=None, description="Why the state cannot be shown on this node.")


class InstanceResult(Payload):
    """An instance after a request that changed it."""

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
    next: int | None = Field(description="Value of `after` for the next page; null on the last page.")
    skip: int = Field(default=0, description="Value of `skip` for the next page.")


class ExecutionItem(Payload):
    """One execution of one activity, derived from the journal."""

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
    stats: dict[str, dict[str, int]] = Field(description="Number of executions per status, by activity id.")
    next: int | None = Field(
        default=None, description="Value of `after` for the rest of a long journal; null at its end."
    )
    skip: int = Field(default=0, description="Value of `skip` for the next page.")


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
    """A version of an instance with a stored state."""

    version: int
    at: datetime
    status: StatusName


class MomentList(Payload):
    items: list[MomentItem]
    kept: bool = Field(description="Whether this server currently stores the state of every commit.")


class MomentDetail(Payload):
    """The instance as of one commit."""

    version: int
    status: StatusName
    state: InstanceState
    document: Document = Field(description="The definition that the instance was pinned to at that version.")


# -- actions -----------------------------------------------------------------------------------------------------------


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
    outcome: str | None = Field(
        default=None, description="Continue as if the activity had completed with this outcome."
    )
    why: str | None = None


class VariablesRequest(Request):
    variables: dict[str, Any] = Field(min_length=1)
    why: str | None = None


class AlterRequest(Request):
    alterations: list[dict[str, Any]] = Field(min_length=1, max_length=100)
    why: str | None = None


class ForkRequest(Request):
    version: int | None = Field(default=None, ge=1, lt=2**62, description="Fork from this version of the instance.")
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
    """Outcome of a bulk request: each instance changes in a commit of its own."""

    changed: int
    unchanged: int = Field(description="Instances that no longer matched, or that needed no change.")
    failed: list[BulkFailure]


class ImportedInstance(Payload):
    id: str
    position: int
