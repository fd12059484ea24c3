"""Port of activity authors: the context of an execution and its view of children."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from datetime import datetime
from typing import Any, Protocol, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Child(Protocol):
    """A child activity as its parent sees it: an opaque handle to schedule."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str | None: ...


class ChildResult(Struct, frozen=True, kw_only=True):
    """A scheduled child has completed."""

    child_id: str
    outcomes: tuple[str, ...] = ()
    """Empty if it completed without naming an outcome."""
    tag: Any = None
    """The tag that was passed to `schedule`."""


class Context(Protocol):
    """Data and operations available to an activity while it executes.

    Operations are recorded and applied when `execute` (or the callback) returns; those of an effect are applied when its
    result is committed. An execution that leaves no bookmark and no scheduled child completes automatically.
    """

    @property
    def instance_id(self) -> str: ...
    @property
    def correlation_id(self) -> str | None: ...
    @property
    def definition_id(self) -> str: ...
    @property
    def activity_id(self) -> str: ...
    @property
    def execution_id(self) -> int: ...
    @property
    def idempotency_key(self) -> str:
        """Equal across crash, take-over and retry: pass it to systems that must not repeat the operation."""

    @property
    def attempt(self) -> int:
        """1 for the first attempt. Usable as a fencing token together with the key."""

    @property
    def now(self) -> datetime: ...
    @property
    def state(self) -> dict[str, Any]:
        """State of this activity that persists between its callbacks."""

    @property
    def properties(self) -> MutableMapping[str, Any]:
        """Properties of the instance, stored with its state. Assign a new value to change one: `properties["x"] = …`.

        An effect sees them as they were when it began."""

    @property
    def transient_properties(self) -> dict[str, Any]:
        """Values that activities of this segment share. They end with its commit and are never stored; a segment that runs
        again begins without them. An effect has a dictionary of its own."""

    @property
    def trigger_payload(self) -> Any:
        """Payload of the stimulus that started the instance; None if this activity did not start it."""

    @property
    def started_instance(self) -> bool:
        """Whether this activity is the trigger that started the instance."""

    @property
    def is_trigger(self) -> bool:
        """Alias of `started_instance`."""

    @property
    def canceled(self) -> bool:
        """For effects in threads: cancellation was requested. Poll it in long loops."""

    def service(self, service_type: type[T]) -> T: ...
    def get_variable(self, name: str) -> Any: ...
    def set_variable(self, name: str, value: Any) -> None: ...
    def set_output(self, name: str, value: Any) -> None: ...
    def complete(self, *outcomes: str) -> None: ...
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
        """Wait for a stimulus of that name and payload. `resume(context, payload)` is a method of the activity."""

    def schedule(
        self,
        child: Any,
        then: Callable[..., Any] | None = None,
        *,
        variables: Mapping[str, Any] | None = None,
        tag: Any = None,
    ) -> None:
        """Run a child. `then(context, result)` is a method of the activity. Variables must be declared on the port."""

    def cancel_children(self, tag: Any = None) -> None:
        """Cancel the children that were scheduled with that tag, or all."""

    def cancel(self) -> None:
        """Cancel this activity itself."""

    def journal(self, message: str, data: Any = None) -> None: ...
    def correlate(self, correlation_id: str) -> None: ...
    def name_instance(self, name: str) -> None: ...
    def write_line(self, text: str) -> None: ...
    def publish(
        self, name: str, payload: Any = None, *, correlation_id: str | None = None, local: bool = False
    ) -> None: ...
