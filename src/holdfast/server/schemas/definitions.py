"""Payloads of definitions."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from holdfast.server.schemas.base import Document, Payload, ProblemDetail, Request, VersionNumber


class DefinitionSummary(Payload):
    id: str
    name: str
    description: str | None = None
    version: int
    latest_version: int
    published_version: int | None = None
    is_published: bool = Field(description="This version is the published one.")
    has_draft: bool = Field(description="A version later than the published one exists.")
    folder: str = ""
    labels: list[str] = []
    origin: Literal["api", "code", "file"] = "api"
    updated: datetime
    content_hash: str
    tools: dict[str, str] = Field(default={}, description="Tools that wrote the document, with their versions.")
    usable_as_activity: bool = False
    activity_count: int = 0


class DefinitionDetail(Payload):
    summary: DefinitionSummary
    document: Document
    etag: str


class PublishResult(Payload):
    summary: DefinitionSummary
    triggers: int
    live_instances: int = Field(description="Live instances of earlier versions; they keep their version.")
    consumers_updated: list[str] = Field(
        default=[], description="Definitions that use this workflow as an activity and were published again with it."
    )
    consumers_refused: dict[str, str] = Field(
        default={}, description="Definitions that could not be published again, with the reason."
    )


class RevertRequest(Request):
    version: VersionNumber


class DuplicateRequest(Request):
    id: str = Field(min_length=1)
    name: str | None = None


class LabelsRequest(Request):
    labels: list[str] | None = None
    folder: str | None = None


class FieldChange(Payload):
    path: str
    before: Any = None
    after: Any = None


ChangeName = Literal["added", "removed", "changed", "moved"]


class ActivityChange(Payload):
    id: str
    type: str
    title: str = ""
    change: ChangeName
    fields: list[FieldChange] = []


class ConnectionChange(Payload):
    container: str
    source: str = Field(alias="from")
    target: str = Field(alias="to")
    outcome: str | None = None
    change: ChangeName
    fields: list[FieldChange] = []


class DeclarationChange(Payload):
    name: str
    scope: str | None = None
    change: ChangeName
    fields: list[FieldChange] = []


class DefinitionDiff(Payload):
    """Differences from the earlier version to the later one."""

    activities: list[ActivityChange]
    connections: list[ConnectionChange]
    variables: list[DeclarationChange]
    inputs: list[DeclarationChange]
    outputs: list[DeclarationChange]
    settings: list[FieldChange]


class ValidationResult(Payload):
    problems: list[ProblemDetail]


class GraphNode(Payload):
    id: str
    type: str
    title: str
    parent: str | None = None
    port: str | None = None
    style: str = "plain"
    position: dict[str, Any] | None = None


class GraphEdge(Payload):
    source: str
    target: str
    outcome: str | None = None
    backward: bool = False


class DefinitionGraph(Payload):
    nodes: list[GraphNode]
    edges: list[GraphEdge]


ExportFormat = Literal["holdfast", "elsa", "python"]


class ExportRequest(Request):
    ids: list[str] = Field(min_length=1, max_length=1000)
    format: ExportFormat = "holdfast"


class ImportedFile(Payload):
    file: str
    ok: bool
    id: str | None = None
    version: int | None = None
    problems: list[ProblemDetail] = []


class ImportResult(Payload):
    files: list[ImportedFile]


class DefinitionsBulkRequest(Request):
    action: Literal["publish", "retract", "delete", "label"]
    ids: list[str] = Field(min_length=1, max_length=1000)
    labels: list[str] | None = None
    folder: str | None = None


# -- running -----------------------------------------------------------------------------------------------------------


class StartRequest(Request):
    input: dict[str, Any] = {}
    correlation_id: str | None = None
    name: str | None = None
    version: VersionNumber | Literal["latest", "published"] = "published"
    start_at: str | None = Field(default=None, description="Id of the trigger activity to start at.")
    instance_id: str | None = None
    properties: dict[str, Any] = Field(default={}, description="Properties of the instance, for its activities.")


class ExecuteQuery(Request):
    input: str = Field(default="{}", description="Inputs, as a JSON object.")
    correlation_id: str | None = None
    name: str | None = None
    version: VersionNumber | Literal["latest", "published"] = "published"
    start_at: str | None = Field(default=None, description="Id of the trigger activity to start at.")
    instance_id: str | None = None


class DispatchRequest(StartRequest):
    priority: int = Field(default=0, ge=-(2**31), lt=2**31, description="Higher values run first.")
    queue: str | None = None
    delay: str | None = Field(default=None, description="Delay before the start: ISO 8601 duration or `10s`.")
    idempotency_key: str | None = None


class BulkDispatchRequest(Request):
    requests: list[DispatchRequest] = Field(min_length=1, max_length=10_000)


class DispatchResult(Payload):
    instance_ids: list[str]
    status: str = "pending"
    existing: bool = Field(
        default=False,
        description="Nothing was started: this instance holds the idempotency key or the activation slot.",
    )


class DispatchFailure(Payload):
    index: int = Field(description="Index of the request, from 0.")
    code: str
    message: str


class BulkDispatchResult(Payload):
    results: list[DispatchResult] = Field(description="Results of the queued requests, in request order.")
    count: int
    failed: list[DispatchFailure] = []
