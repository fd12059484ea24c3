"""Starts of instances: everything known before the first segment, and the jobs that create the instance.

There is one way to start an instance. Callers, triggers, schedules, parents and dispatch requests fill a `Start`; the job
creates the live instance when it is applied, and again each time its commit is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from holdfast import telemetry
from holdfast.execution import delivery
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Plan
from holdfast.model.commit import Conflict, ConflictReason
from holdfast.model.guard import Guard
from holdfast.model.inputs import check_inputs
from holdfast.model.storable_text import storable
from holdfast.model.stored import InstanceKey
from holdfast.model.work import ScheduleStep, WorkRow
from holdfast.ports import Services
from holdfast.runtime.commits.jobs.base import Answer, Job, Retries
from holdfast.runtime.commits.jobs.resume import ResumeJob


class Start(Struct, frozen=True, kw_only=True):
    """A request for a new instance."""

    key: InstanceKey
    plan: Plan
    content: str
    inputs: Mapping[str, Any] = {}
    """Given inputs; `checked_inputs` completes and converts them."""
    lenient: bool = False
    """Inputs that the definition does not declare are ignored: a stimulus brings any data."""
    correlation_id: str | None = None
    name: str | None = None
    parent_id: str | None = None
    trigger: str | None = None
    trigger_payload: Any = None
    flowchart_mode: str | None = None
    principal: str | None = None
    trace: str | None = None
    properties: Mapping[str, Any] = {}
    home: str | None = None
    """The queue that the start named; the instance stays on it."""
    complete: dict[str, Any] | None = None
    """Checked inputs, if the caller has checked them already."""

    def checked_inputs(self) -> dict[str, Any]:
        """The complete inputs. Raises `InvalidInput` with all problems, or `UnstorableText` for an unstorable name."""
        if self.complete is not None:
            return self.complete
        if self.correlation_id is not None:
            storable(self.correlation_id, "correlation id")
        if self.name is not None:
            storable(self.name, "name")
        given, definition = self.inputs, self.plan.definition
        if self.lenient:
            declared = {item.name for item in definition.inputs}
            given = {name: value for name, value in given.items() if name in declared}
        return check_inputs(definition, given, self.plan.types)


class StartJob(Job):
    """Creates the instance and runs its first segment, in one commit."""

    __slots__ = ("inputs", "start", "trace", "waits")

    def __init__(
        self,
        start: Start,
        guards: tuple[Guard, ...] = (),
        *,
        waits: bool = True,
        wants_answer: bool = True,
        consumes_work: str | None = None,
        schedule_step: ScheduleStep | None = None,
    ) -> None:
        Job.__init__(self, start.key, wants_answer, consumes_work, guards, schedule_step)
        self.start = start
        self.inputs = start.checked_inputs()
        self.trace = start.trace or telemetry.trace_for(
            start.key.id
        )  # Read in the caller's context, not in the lane's.
        self.waits = waits
        """The parent is notified of the end; otherwise it continues as soon as this instance has begun."""

    def create(self, now: Callable[[], int], services: Services) -> LiveInstance:
        """A new live instance with its root activity in the queue."""
        return self._create(now, services, pending=False)

    def _create(self, now: Callable[[], int], services: Services, *, pending: bool) -> LiveInstance:
        start = self.start
        return delivery.start(
            start.plan,
            id=start.key.id,
            now=now,
            services=services,
            inputs=self.inputs,
            correlation_id=start.correlation_id,
            name=start.name,
            parent_id=start.parent_id,
            trigger=start.trigger,
            trigger_payload=start.trigger_payload,
            flowchart_mode=start.flowchart_mode,
            principal=start.principal,
            trace=self.trace,
            properties=start.properties,
            home=start.home,
            pending=pending,
        )

    def apply(self, live: LiveInstance) -> bool:
        return True

    def on_conflict(self, conflict: Conflict, retries: Retries) -> None:
        if conflict.reason is ConflictReason.EXISTS:
            self.on_existing(self.instance_id, retries)
        else:
            super().on_conflict(conflict, retries)

    def on_slot_taken(self, holder: str | None, retries: Retries) -> None:
        self.on_existing(holder, retries)

    def on_existing(self, holder: str | None, retries: Retries) -> None:
        """The start is refused. The parent, if one waits, is notified by the commit that consumes the start row."""
        parent = parent_bookmark(self.start)
        if self.consumes_work is None or parent is None or holder == self.instance_id:
            super().on_existing(holder, retries)
            return
        self.finish(Answer(existing=holder))
        reason = f"Instance {holder} is running, and '{self.start.plan.definition.id}' allows one at a time."
        retries.submit(start_refused(*parent, self.instance_id, reason, self.consumes_work))


class PendingJob(StartJob):
    """Creates the instance as pending; its commit adds the work row that begins it."""

    __slots__ = ("adds_work",)

    runs_queue = False

    def __init__(self, start: Start, begins: WorkRow, guards: tuple[Guard, ...] = ()) -> None:
        super().__init__(start, guards)
        self.adds_work = (begins,)

    def create(self, now: Callable[[], int], services: Services) -> LiveInstance:
        return self._create(now, services, pending=True)


class CanceledStartJob(StartJob):
    """Creates the instance of a start row that no node has taken yet, and cancels it before its first activity."""

    __slots__ = ("cause", "finalize")

    def __init__(self, start: StartJob, cause: str, *, finalize: bool) -> None:
        """`start` is the job of the start row."""
        super().__init__(start.start, start.guards, consumes_work=start.consumes_work)
        self.cause = cause
        self.finalize = finalize

    def create(self, now: Callable[[], int], services: Services) -> LiveInstance:
        return self._create(now, services, pending=True)

    def apply(self, live: LiveInstance) -> bool:
        delivery.cancel(live, self.cause, finalize=self.finalize)
        return True


def parent_bookmark(start: Start) -> tuple[InstanceKey, str] | None:
    """The parent's instance and bookmark that wait for a child."""
    if not start.parent_id:
        return None
    instance_id, _, bookmark = start.parent_id.partition("#")
    return InstanceKey(start.key.tenant, instance_id), bookmark


def start_refused(
    parent: InstanceKey, bookmark: str, child: str, reason: str, work_id: str, *, unknown: bool = False
) -> ResumeJob:
    """Notifies a parent that its child was not started; consumes the start row. `unknown`: there is no such workflow."""
    payload = {"refused": reason, "instance_id": child, **({"unknown": True} if unknown else {})}
    return ResumeJob(parent, bookmark, payload, is_hint=True, wants_answer=False, consumes_work=work_id)
