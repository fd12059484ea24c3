"""What activity authors work with: the context of an execution, and how they see their children."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Child(Protocol):
    """An activity in a port, as the activity that owns the port sees it: to be scheduled, nothing else."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str | None: ...


class ChildResult(Struct, frozen=True, kw_only=True):
    """A scheduled child has completed."""

    child_id: str
    outcomes: tuple[str, ...] = ()
    """Empty when it completed without naming one."""
    tag: Any = None
    """What the schedule call gave it."""


class Context(Protocol):
    """What an activity can ask for and do while it executes.

    Everything that it does is recorded and applied when `execute` (or the callback) has returned; for an effect, when its
    result is committed. An execution that leaves no bookmark and no child to wait for completes by itself.
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
        """The same over crash, take-over and retry: hand it to whoever must not do this twice."""

    @property
    def attempt(self) -> int:
        """1 for the first; a fencing token beside the key."""

    @property
    def now(self) -> datetime: ...
    @property
    def state(self) -> dict[str, Any]:
        """What this activity remembers between its callbacks."""

    @property
    def trigger_payload(self) -> Any:
        """The stimulus that started the instance here; None if this activity did not start it."""

    @property
    def started_instance(self) -> bool:
        """This activity is the trigger that started the instance."""

    @property
    def is_trigger(self) -> bool:
        """The same."""

    @property
    def canceled(self) -> bool:
        """For effects in threads: someone wants this to end; look now and then."""

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
        """Wait for a stimulus of that name and payload; `resume(context, payload)` is a method of the activity."""

    def schedule(
        self,
        child: Any,
        then: Callable[..., Any] | None = None,
        *,
        variables: Mapping[str, Any] | None = None,
        tag: Any = None,
    ) -> None:
        """Run a child; `then(context, result)` is a method of the activity. Variables must be declared on the port."""

    def cancel_children(self, tag: Any = None) -> None:
        """Cancel the children scheduled with that tag, or all."""

    def cancel(self) -> None:
        """Cancel this activity itself."""

    def journal(self, message: str, data: Any = None) -> None: ...
    def correlate(self, correlation_id: str) -> None: ...
    def name_instance(self, name: str) -> None: ...
    def write_line(self, text: str) -> None: ...
    def publish(
        self, name: str, payload: Any = None, *, correlation_id: str | None = None, local: bool = False
    ) -> None: ...
