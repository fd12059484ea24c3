"""What an activity asked for while it ran: recorded by its context, applied afterwards, for pure ones and effects alike."""

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
    """The key holds the execution id too: only who knows it can resume."""
    metadata: Mapping[str, Any] = {}


class ScheduledChild(Struct, frozen=True, kw_only=True, omit_defaults=True):
    port: str
    index: int = -1
    """Position in a port of several activities; -1 for a port of one."""
    field: str | None = None
    """Which activity of an entry."""
    callback: str | None = None
    variables: Mapping[str, Any] = {}
    tag: Any = None


ALL_CHILDREN = "*all children*"


class Record(Struct, kw_only=True):
    """Filled by one execution; empty means: completes with no outcome named, unless it left something to wait for."""

    outputs: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] | None = None
    bookmarks: list[NewBookmark] = field(default_factory=list)
    children: list[ScheduledChild] = field(default_factory=list)
    canceled_tags: list[Any] = field(default_factory=list)
    """Tags of children to cancel; `ALL_CHILDREN` cancels every one."""
    journal: list[tuple[str, Any]] = field(default_factory=list)
    correlation_id: str | None = None
    name: str | None = None
    lines: list[str] = field(default_factory=list)
    published: list[dict[str, Any]] = field(default_factory=list)
    completed: bool = False
    outcomes: tuple[str, ...] | None = None
    canceled: bool = False


class EffectRequest(Struct):
    """A committed row first, then it starts."""

    execution_id: int
    activity_id: str
    attempt: int = 1
    inputs: dict[str, Any] = field(default_factory=dict)
    """Evaluated once; every attempt uses them."""
    method: str = "execute"
    argument: Any = None
    """What a callback is called with: the payload of a bookmark, the outcome of a child."""
    delay: timedelta | None = None
    """How long its carrier holds it back; the row keeps the moment, the state does not."""


def argument_data(argument: Any) -> dict[str, Any]:
    """A callback's argument as data that an instance's state can hold."""
    if isinstance(argument, ChildResult):
        return {"child": {"child_id": argument.child_id, "outcomes": list(argument.outcomes), "tag": argument.tag}}
    return {"value": argument}


def argument_of(data: Mapping[str, Any]) -> Any:
    if "child" in data:
        child = data["child"]
        return ChildResult(child_id=child["child_id"], outcomes=tuple(child["outcomes"]), tag=child["tag"])
    return data["value"]


class EffectFailure(Struct, frozen=True, kw_only=True):
    """How an attempt failed, as data: it may come from another process."""

    type: str
    message: str
    bases: tuple[str, ...] = ()
    source: str | None = None
    cause: str = "fault"
    """`fault`, `timeout`, `canceled`, `lost`."""
    error: BaseException | None = None
    """The exception itself, where it was raised in this process."""
