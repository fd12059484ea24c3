"""Payloads of tasks, stimuli, schedules, alterations, dead letters, nodes, settings and statistics."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from holdfast.server.schemas.base import Payload, Request
from holdfast.server.schemas.instances import IncidentItem, InstanceFilterBody, InstanceItem

# -- human tasks -------------------------------------------------------------------------------------------------------


class TaskItem(Payload):
    id: str
    title: str
    description: str | None = None
    assignee: str | None = None
    role: str | None = None
    state: Literal["open", "claimed", "completed", "canceled"]
    form: dict[str, Any] | None = Field(default=None, description="JSON Schema of the answer.")
    due: datetime | None = None
    created: datetime
    instance_id: str
    definition_id: str
    definition_name: str
    activity_id: str
    claimed_by: str | None = None
    completed_by: str | None = None
    about: Any = Field(default=None, description="Subject of the task, shown with the form.")
    answer: Any = None


class CompleteTaskRequest(Request):
    answer: Any = None


# -- stimuli and triggers ----------------------------------------------------------------------------------------------


class EventRequest(Request):
    payload: Any = None
    correlation_id: str | None = None
    key: str | None = None
    instance_id: str | None = None
    broadcast: bool = False


class StimulusRequest(EventRequest):
    type: str = Field(min_length=1)


class Receipt(Payload):
    """A durably accepted stimulus; a node matches it later."""

    stimulus_id: str
    existing: bool = Field(default=False, description="A stimulus with the same key was accepted before.")


class ExplainRequest(Request):
    type: str = Field(min_length=1)
    payload: Any = None
    name: str | None = Field(default=None, description="Name of an event.")
    key: Any = Field(default=None, description="Key of an event.")
    correlation_id: str | None = None
    instance_id: str | None = None


class Difference(Payload):
    path: str
    waits_for: Any = None
    given: Any = None


class NearMatch(Payload):
    kind: Literal["trigger", "bookmark"]
    type: str
    payload: Any = None
    definition_id: str | None = None
    instance_id: str | None = None
    activity_id: str = ""
    differs: list[Difference]


class Explanation(Payload):
    key: str
    broadcast: bool
    starts: list[str] = Field(description="Definitions that the stimulus would start.")
    resumes: list[str] = Field(description="INSTANCE#BOOKMARK")
    kept: str | None = Field(description="Time for which an unmatched stimulus is kept.")
    near: list[NearMatch] = Field(description="Near matches with their differing fields; nearest first.")
    advice: str


class ExpiredStimulusItem(Payload):
    """A stimulus that expired without a match."""

    id: str
    type: str
    event_name: str | None = None
    correlation_id: str | None = None
    key: Any = None
    arrived: datetime
    expired: datetime


class TriggerItem(Payload):
    definition_id: str
    definition_name: str
    version: int
    activity_id: str
    activity_name: str | None = None
    type: str
    payload: Any = None


class ScheduleItem(Payload):
    id: str
    definition_id: str
    definition_name: str
    activity_id: str
    activity_name: str | None = None
    type: str = Field(description="Timer, Cron or StartAt.")
    rule: str = Field(description="The cron expression, the interval or the moment.")
    zone: str
    misfire: str
    due: datetime | None = Field(default=None, description="Next time; null if the schedule is paused or has ended.")
    fired: datetime | None = None
    paused: bool = False


class StartedNow(Payload):
    instance_id: str


class NextTimes(Payload):
    times: list[datetime]
    description: str | None = None


# -- alterations -------------------------------------------------------------------------------------------------------


class AlterationRequest(Request):
    filter: InstanceFilterBody | None = None
    ids: list[str] = Field(default=[], max_length=10_000)
    alterations: list[dict[str, Any]] = Field(min_length=1, max_length=100)
    dry_run: bool = False
    why: str | None = None


class AlterationOutcome(Payload):
    """Actual or, in a dry run, expected outcome for one instance."""

    instance_id: str
    definition_id: str
    version: int
    outcome: Literal["applies", "stays", "needs_mapping", "refused"]
    message: str = ""


class AlterationItem(Payload):
    id: str
    state: Literal["planned", "running", "completed"]
    dry_run: bool
    alterations: list[dict[str, Any]]
    total: int = Field(description="Number of matching instances when the plan was made.")
    altered: int = 0
    unchanged: int = 0
    failed: int = 0
    fates: dict[str, int] = Field(default={}, description="Dry run only: number of instances per expected outcome.")
    created: datetime
    updated: datetime
    who: str
    why: str | None = None
    refused: str = Field(default="", description="The reason why a plan of a workflow was not executed.")
    results: list[AlterationOutcome] = Field(
        description="Dry run: examples of each outcome; otherwise the first failures."
    )


# -- dead letters ------------------------------------------------------------------------------------------------------


class DeadLetterItem(Payload):
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


class IdsRequest(Request):
    ids: list[str] = Field(min_length=1, max_length=10_000)
    why: str | None = None


# -- nodes and settings ------------------------------------------------------------------------------------------------


class NodeItem(Payload):
    id: str
    boot: int
    state: str = Field(description="live, draining, left or dead.")
    alive: bool
    this: bool = Field(default=False, description="This is the node that answered.")
    started: datetime
    heartbeat: datetime
    host: str = ""
    pid: int = 0
    queues: list[str] = []
    paused: bool = False
    careful: bool = False


class UnservedQueue(Payload):
    queue: str
    since: datetime


class NodeList(Payload):
    items: list[NodeItem]
    unserved: list[UnservedQueue] = Field(description="Queues with work that no live node serves.")


class SettingItem(Payload):
    name: str
    variable: str
    value: Any = None
    default: Any = None
    description: str
    allowed: str
    secret: bool = False


# -- statistics --------------------------------------------------------------------------------------------------------


class ThroughputPoint(Payload):
    hour: datetime = Field(description="Start of the interval, which lasts an hour, or a day for long ranges.")
    started: int
    finished: int
    faulted: int


class Durations(Payload):
    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    samples: int = 0


class DefinitionStatistics(Payload):
    definition_id: str
    name: str
    started: int
    finished: int
    faulted: int
    incidents: int
    p50_ms: float | None = None
    p95_ms: float | None = None


class Attention(Payload):
    kind: Literal["faulted", "incident", "dead_letter", "stuck", "node"]
    message: str
    instance_id: str | None = None
    definition_id: str | None = None
    at: datetime | None = None


class Statistics(Payload):
    range: str
    begins: datetime
    interval: Literal["hour", "day"]
    throughput: list[ThroughputPoint]
    by_status: dict[str, int]
    durations: Durations
    by_definition: list[DefinitionStatistics]
    oldest_waiting: InstanceItem | None = None
    stuck: int = Field(default=0, description="Live instances without anything left to resume them; at most 100.")
    stuck_counted: bool = Field(
        default=True, description="False if there are too many live instances to scan; see `/metrics`."
    )
    incidents_open: int = 0
    dead_letters: int = 0
    work_ready: int = 0
    work_later: int = 0
    sampled: bool = Field(default=False, description="Durations are based on a sample of the instances.")
    needs_attention: list[Attention]


# -- previews ----------------------------------------------------------------------------------------------------------


class PreviewRequest(Request):
    language: str
    expression: Any
    instance_id: str | None = None
    variables: dict[str, Any] = {}
    inputs: dict[str, Any] = {}


class PreviewResult(Payload):
    value: Any = None
    error: str | None = None
    line: int | None = None


class ActivityTrialRequest(Request):
    activity: dict[str, Any] = Field(description="One activity, as in a definition.")
    variables: dict[str, Any] = {}


class ActivityTrialResult(Payload):
    status: str
    outputs: dict[str, Any] = {}
    outcome: Any = None
    lines: list[str] = []
    incidents: list[IncidentItem] = []


# -- health ------------------------------------------------------------------------------------------------------------


class Health(Payload):
    status: Literal["ok", "unavailable"]
    version: str
    reasons: list[str] = []
    warnings: list[str] = Field(
        default=[], description="Problems that do not make the process unready: code that no worker of the cluster has."
    )
