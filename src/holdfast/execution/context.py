"""Implementation of the activity context: provides facts and records requests. See `ports.Context` for the contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar

from holdfast.errors import ActivityDeclarationError, ExecutionError
from holdfast.execution.properties import Properties
from holdfast.execution.record import ALL_CHILDREN, NewBookmark, Record, ScheduledChild
from holdfast.model import values
from holdfast.model.storable_text import storable
from holdfast.ports import Services

T = TypeVar("T")
_NONE: Mapping[str, Any] = MappingProxyType({})


class Facts:
    """Facts about an execution, available in the segment, in a thread and in another process."""

    __slots__ = (
        "activity_id",
        "attempt",
        "correlation_id",
        "definition_id",
        "execution_id",
        "instance_id",
        "now",
        "started_instance",
        "trace",
        "trigger_payload",
    )

    def __init__(
        self,
        *,
        instance_id: str,
        correlation_id: str | None,
        definition_id: str,
        activity_id: str,
        execution_id: int,
        attempt: int,
        now: datetime,
        trigger_payload: Any = None,
        started_instance: bool = False,
        trace: str | None = None,
    ) -> None:
        self.instance_id = instance_id
        self.correlation_id = correlation_id
        self.definition_id = definition_id
        self.activity_id = activity_id
        self.execution_id = execution_id
        self.attempt = attempt
        self.now = now
        self.trigger_payload = trigger_payload
        self.started_instance = started_instance
        self.trace = trace


class ChildRef:
    """Reference to a child in a port, as the owner's code sees it."""

    __slots__ = ("field", "id", "index", "name", "port")

    def __init__(self, port: str, id: str, name: str | None, index: int = -1, field: str | None = None) -> None:
        self.port = port
        self.id = id
        self.name = name
        self.index = index
        self.field = field


class RecordingContext:
    """Implementation of `ports.Context` that records everything in a `Record`."""

    __slots__ = (
        "_activity",
        "_facts",
        "_is_canceled",
        "_read_variable",
        "_services",
        "properties",
        "record",
        "state",
        "transient_properties",
    )

    def __init__(
        self,
        facts: Facts,
        services: Services,
        state: dict[str, Any],
        *,
        read_variable: Callable[[str], Any] | None = None,
        is_canceled: Callable[[], bool] | None = None,
        properties: Mapping[str, Any] = _NONE,
        transient: dict[str, Any] | None = None,
    ) -> None:
        self._facts = facts
        self._services = services
        self._read_variable = read_variable
        self._is_canceled = is_canceled
        self._activity: Any = None
        self.state = state
        self.record = Record()
        self.properties = Properties(properties, self.record)
        self.transient_properties: dict[str, Any] = {} if transient is None else transient

    # -- facts ---------------------------------------------------------------------------------------------------------

    @property
    def instance_id(self) -> str:
        return self._facts.instance_id

    @property
    def correlation_id(self) -> str | None:
        return self.record.correlation_id or self._facts.correlation_id

    @property
    def definition_id(self) -> str:
        return self._facts.definition_id

    @property
    def activity_id(self) -> str:
        return self._facts.activity_id

    @property
    def execution_id(self) -> int:
        return self._facts.execution_id

    @property
    def idempotency_key(self) -> str:
        return f"{self._facts.instance_id}:{self._facts.execution_id}"

    @property
    def attempt(self) -> int:
        return self._facts.attempt

    @property
    def now(self) -> datetime:
        return self._facts.now

    @property
    def trigger_payload(self) -> Any:
        return self._facts.trigger_payload

    @property
    def started_instance(self) -> bool:
        return self._facts.started_instance

    @property
    def is_trigger(self) -> bool:
        return self._facts.started_instance

    @property
    def trace(self) -> str | None:
        """W3C `traceparent` of the instance, for middleware that creates spans."""
        return self._facts.trace

    @property
    def canceled(self) -> bool:
        return self._is_canceled is not None and self._is_canceled()

    def service(self, service_type: type[T]) -> T:
        return self._services.get(service_type)

    # -- variables and outputs -----------------------------------------------------------------------------------------

    def get_variable(self, name: str) -> Any:
        if name in self.record.variables:
            return self.record.variables[name]
        if self._read_variable is None:
            raise ExecutionError(
                f"An effect cannot read variables while it runs ('{name}'): they may have changed since the effect was "
                "recorded. Pass the value as an input."
            )
        return self._read_variable(name)

    def set_variable(self, name: str, value: Any) -> None:
        values.check(value, name)
        self.record.variables[name] = value

    def set_output(self, name: str, value: Any) -> None:
        values.check(value, name)
        self.record.outputs[name] = value

    # -- continuation --------------------------------------------------------------------------------------------------

    def complete(self, *outcomes: str) -> None:
        self.record.completed = True
        self.record.outcomes = outcomes or None

    def cancel(self) -> None:
        self.record.canceled = True

    def bookmark(
        self,
        payload: Any = None,
        *,
        name: str | None = None,
        resume: Callable[..., Any] | None = None,
        due: datetime | None = None,
        auto_burn: bool = True,
        auto_complete: bool = True,
        local: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        values.check(payload, "bookmark payload")
        self.record.bookmarks.append(
            NewBookmark(
                name=name,
                payload=payload,
                due=due,
                callback=self._callback(resume),
                auto_burn=auto_burn,
                auto_complete=auto_complete,
                local=local,
                metadata=metadata or {},
            )
        )

    def schedule(
        self,
        child: Any,
        then: Callable[..., Any] | None = None,
        *,
        variables: Mapping[str, Any] | None = None,
        tag: Any = None,
    ) -> None:
        if not isinstance(child, ChildRef):
            raise ExecutionError(
                "schedule() takes an activity from a port of this activity. Declare a field such as "
                "`body: Activity | None = port()` and schedule `self.body`."
            )
        self.record.children.append(
            ScheduledChild(
                port=child.port,
                index=child.index,
                field=child.field,
                callback=self._callback(then),
                variables=variables or {},
                tag=tag,
            )
        )

    def cancel_children(self, tag: Any = None) -> None:
        self.record.canceled_tags.append(ALL_CHILDREN if tag is None else tag)
        # Children scheduled by this execution are not queued yet: remove them too.
        self.record.children = [] if tag is None else [item for item in self.record.children if item.tag != tag]

    def _callback(self, method: Callable[..., Any] | None) -> str | None:
        """Name of a callback method. Callbacks are stored by name, so the method must belong to the activity."""
        if method is None:
            return None
        name = getattr(method, "__name__", "")
        if not name or getattr(type(self._activity), name, None) is None:
            raise ActivityDeclarationError(
                f"'{name or method!r}' is not a method of {type(self._activity).__name__}. Callbacks are stored by name across "
                "restarts: pass a bound method of the activity, such as self.approved."
            )
        return name

    # -- other ---------------------------------------------------------------------------------------------------------

    def journal(self, message: str, data: Any = None) -> None:
        self.record.journal.append((message, data))

    def correlate(self, correlation_id: str) -> None:
        self.record.correlation_id = storable(correlation_id, "correlation id")

    def name_instance(self, name: str) -> None:
        self.record.name = storable(name, "name")

    def write_line(self, text: str) -> None:
        self.record.lines.append(text)

    def publish(
        self, name: str, payload: Any = None, *, correlation_id: str | None = None, local: bool = False
    ) -> None:
        values.check(payload, "event payload")
        self.record.published.append(
            {"name": name, "payload": payload, "correlation_id": correlation_id, "local": local}
        )
