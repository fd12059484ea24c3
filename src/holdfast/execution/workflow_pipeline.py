"""Workflow middleware: code around each segment of an instance, composed once when the plan is built.

A segment is synchronous and may be discarded and run again; so may its middleware. An error of middleware, and middleware that
does not call `proceed()`, fault the instance with an incident.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.execution.faults import type_name
from holdfast.execution.properties import InstanceProperties
from holdfast.execution.settle import raise_incident, settle
from holdfast.model.instance import MIDDLEWARE, JournalEvent
from holdfast.ports import MiddlewarePlacement, WorkflowMiddleware

if TYPE_CHECKING:
    from holdfast.execution.live import LiveInstance

T = TypeVar("T")
INSTANCE_STARTED = JournalEvent.INSTANCE_STARTED.value


class WorkflowMiddlewareContext:
    """View of an instance for the middleware around its segments."""

    __slots__ = ("_live", "is_start", "properties")

    def __init__(self, live: LiveInstance) -> None:
        self._live = live
        self.is_start = any(entry[0] == INSTANCE_STARTED for entry in live.journal[live.committed_entries :])
        """Whether this is the first segment of the instance. A dispatched start is committed before its first segment."""
        self.properties = InstanceProperties(live)
        """Properties of the instance. Changes are part of the segment's commit."""

    @property
    def instance_id(self) -> str:
        return self._live.id

    @property
    def definition_id(self) -> str:
        return self._live.definition_id

    @property
    def definition_version(self) -> int:
        return self._live.definition_version

    @property
    def correlation_id(self) -> str | None:
        return self._live.correlation_id

    @property
    def status(self) -> str:
        """Before `proceed()`: `running`. After it: the status that the segment leaves, such as `suspended`."""
        return str(self._live.status.value)

    @property
    def transient_properties(self) -> dict[str, Any]:
        """Shared with the activities of the segment."""
        return self._live.transient_properties()


def around_workflows(placed: Iterable[str | MiddlewarePlacement]) -> tuple[MiddlewarePlacement, ...]:
    """The middleware for workflows among all middleware in its order, outermost first."""
    return tuple(
        item
        for item in placed
        if isinstance(item, MiddlewarePlacement) and isinstance(item.middleware, WorkflowMiddleware)
    )


def run_around(live: LiveInstance, run: Callable[[], T], idle: T) -> T:
    """Run the segment inside the middleware of the plan. `idle` is the result of a segment that did not run."""
    context, ended = WorkflowMiddlewareContext(live), idle

    def innermost() -> None:
        nonlocal ended
        ended = run()

    step: Callable[[], None] = innermost
    for placement in reversed(live.plan.around):
        step = _bind(placement, context, step)
    try:
        step()
    except Exception as error:  # noqa: BLE001 - user code: any exception faults the instance
        reason = f"{type_name(error)}: {error}".rstrip(".")
        message = f"{reason}. Correct the middleware, then retry the instance."
        raise_incident(live, MIDDLEWARE, message, {"type": type_name(error)})
        live.error = error
        if not live.status.at_rest:  # An instance that has ended keeps its status; the incident tells of the error.
            live.fault_pending = True
            settle(live)
        return idle
    return ended


def _bind(
    placement: MiddlewarePlacement, context: WorkflowMiddlewareContext, proceed: Callable[[], None]
) -> Callable[[], None]:
    def wrapped() -> None:
        calls = 0

        def counted() -> None:
            nonlocal calls
            calls += 1
            if calls == 1:
                proceed()

        placement.middleware.around_workflow(context, counted)
        if calls != 1:
            raise RuntimeError(f"The workflow middleware '{placement.name}' called proceed() {calls} times, not once.")

    return wrapped
