"""How an instance is started, whoever asks: by a request, a trigger, a schedule or a parent.

`Runtime.start` makes its job itself: it is the busiest way in, and everything in between is measured there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from holdfast import telemetry
from holdfast.execution import delivery
from holdfast.execution.plan import Plan
from holdfast.model.guard import Guard
from holdfast.model.inputs import check_inputs
from holdfast.model.storable_text import storable
from holdfast.model.work import WorkRow
from holdfast.runtime.commits.jobs.base import StartJob
from holdfast.runtime.commits.jobs.dispatch import PendingJob

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

__all__ = ["Start", "pending_job", "start_job"]


class Start(Struct, frozen=True, kw_only=True):
    """Everything that is known of an instance before it is there."""

    plan: Plan
    content: str
    instance_id: str
    inputs: Mapping[str, Any] = {}
    lenient: bool = False
    """Inputs that the definition does not declare are left out: a stimulus brings what it brings."""
    correlation_id: str | None = None
    name: str | None = None
    parent_id: str | None = None
    trigger: str | None = None
    trigger_payload: Any = None
    flowchart_mode: str | None = None
    principal: str | None = None
    trace: str | None = None
    properties: Mapping[str, Any] = {}
    complete: dict[str, Any] | None = None
    """The inputs, if they have been checked already."""

    def checked(self) -> dict[str, Any]:
        """The inputs, complete; `InvalidInput` with all that is wrong, `UnstorableText` for a name that no column keeps."""
        if self.complete is not None:
            return self.complete
        storable(self.correlation_id, "correlation id")
        storable(self.name, "name")
        declared = {item.name for item in self.plan.definition.inputs}
        given = {name: value for name, value in self.inputs.items() if not self.lenient or name in declared}
        return check_inputs(self.plan.definition, given, self.plan.types)


def start_job(node: Node, asked: Start, **more: Any) -> StartJob:
    """Starts it and runs its first segment, in one commit."""
    return StartJob(asked.instance_id, **_common(node, asked, pending=False), **more)


def pending_job(node: Node, asked: Start, begins: WorkRow, guards: tuple[Guard, ...] = ()) -> PendingJob:
    """Only puts it there, with the row that begins it."""
    return PendingJob(asked.instance_id, begins=begins, guards=guards, **_common(node, asked, pending=True))


def _common(node: Node, asked: Start, *, pending: bool) -> dict[str, Any]:
    inputs = asked.checked()
    trace = telemetry.trace_for(asked.instance_id)  # Here, where the one who asks is: the lane knows nothing of them.
    return {
        "plan": asked.plan,
        "content": asked.content,
        "make": lambda: delivery.start(
            asked.plan,
            id=asked.instance_id,
            now=node.clock.now_ns,
            services=node.services,
            inputs=inputs,
            correlation_id=asked.correlation_id,
            name=asked.name,
            parent_id=asked.parent_id,
            trigger=asked.trigger,
            trigger_payload=asked.trigger_payload,
            flowchart_mode=asked.flowchart_mode,
            principal=asked.principal,
            trace=asked.trace or trace,
            properties=asked.properties,
            pending=pending,
        ),
    }
