"""Records of activity executions: filled by the context, applied afterwards, for pure activities and effects alike."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct, field

from holdfast.ports import ChildResult


class NewBookmark(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str | None = None
    payload: Any = None
    due: datetime | None = None
    callback: str | None = None
    auto_burn: bool = True
    auto_complete: bool = True
    local: bool = False
    """The key includes the execution id, so only callers that know it can resume the bookmark."""
    metadata: Mapping[str, Any] = {}


class ScheduledChild(Struct, frozen=True, kw_only=True, omit_defaults=True):
    port: str
    index: int = -1
    """Position in a list port; -1 for a single port."""
    field: str | None = None
    """Name of the activity within an entry."""
    callback: str | None = None
    variables: Mapping[str, Any] = {}
    tag: Any = None


ALL_CHILDREN = "*all children*"


class Record(Struct, kw_only=True):
    """Requests of one execution. An empty record completes without an outcome, unless there is something to wait for."""

    outputs: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] | None = None
    bookmarks: list[NewBookmark] = field(default_factory=list)
    children: list[ScheduledChild] = field(default_factory=list)
    canceled_tags: list[Any] = field(default_factory=list)
    """Tags of children to cancel; `ALL_CHILDREN` cancels all."""
    journal: list[tuple[str, Any]] = field(default_factory=list)
    correlation_id: str | None = None
    name: str | None = None
    lines: list[str] = field(default_factory=list)
    published: list[dict[str, Any]] = field(default_factory=list)
    properties: dict[str, Any] = field(default_factory=dict)
    """Properties of the instance that the execution sets."""
    removed_properties: set[str] = field(default_factory=set)
    completed: bool = False
    outcomes: tuple[str, ...] | None = None
    canceled: bool = False


class EffectRequest(Struct):
    """Request to run an effect. It is committed before the effect starts."""

    execution_id: int
    activity_id: str
    attempt: int = 1
    inputs: dict[str, Any] = field(default_factory=dict)
    """Evaluated once and used by every attempt."""
    method: str = "execute"
    argument: Any = None
    """Argument of a callback: the payload of a bookmark or the result of a child."""
    delay: timedelta | None = None
    """Delay before the queue delivers it. The row stores the due time; the state does not."""
    held: bool = False
    """It does not start until an operator recovers it. The row has no owner; the state does not store this."""


class Interrupted(Struct, frozen=True):
    """An effect that had no result when its scope failed."""

    execution_id: int
    activity_id: str
    attempt: int
    inputs: dict[str, Any]
    ran: bool
    """It was running, so its outcome is unknown. Otherwise its last attempt failed."""


def argument_data(argument: Any) -> dict[str, Any]:
    """Argument of a callback as data for the instance's state."""
    if isinstance(argument, ChildResult):
        return {"child": {"child_id": argument.child_id, "outcomes": list(argument.outcomes), "tag": argument.tag}}
    return {"value": argument}


def argument_of(data: Mapping[str, Any]) -> Any:
    if "child" in data:
        child = data["child"]
        return ChildResult(child_id=child["child_id"], outcomes=tuple(child["outcomes"]), tag=child["tag"])
    return data["value"]


PROCESS_DIED = "process"
"""Cause of a failure: the process of the call died, and its outcome is unknown."""


class EffectFailure(Struct, frozen=True, kw_only=True):
    """Failure of an attempt as data, because it may come from another process."""

    type: str
    message: str
    bases: tuple[str, ...] = ()
    source: str | None = None
    cause: str = "fault"
    """`fault`, `timeout`, `canceled`, `lost` or `process`."""
    error: BaseException | None = None
    """The exception itself, if it was raised in this process."""


class Returned(Struct, frozen=True):
    """The result of a function that only returned a value: a tenth of a `Record`, since many may wait for their commit."""

    value: Any

    def record(self) -> Record:
        return Record(outputs={"result": self.value})


EffectResult = Record | Returned | EffectFailure


def record_of(result: Record | Returned) -> Record:
    return result.record() if isinstance(result, Returned) else result
