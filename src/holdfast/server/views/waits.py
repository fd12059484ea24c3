"""Descriptions of the conditions that an instance waits for, as noun phrases after "Waiting for"."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from holdfast.model.stored import InstanceRow
from holdfast.server.schemas.instances import BookmarkItem, InstanceState, WaitItem

TEXT_LENGTH_MAX = 120


def waits_of(row: InstanceRow, state: InstanceState) -> list[WaitItem]:
    """All open conditions; empty for an instance that waits for nothing."""
    if row.status == "faulted":
        return [WaitItem(what="an operator to retry the failed instance")]
    if row.finished is not None:
        return []
    waits = [wait_of(found, row.correlation_id) for found in state.bookmarks if found.kind != "timeout"]
    running = [found.activity_id for found in state.activities if found.waits_for == "effect"]
    waits += [WaitItem(what="the running activity to complete", activity_id=activity) for activity in running]
    if row.incidents:
        waits.append(WaitItem(what=f"an operator to resolve {_incidents(row.incidents)}"))
    return waits


def wait_of(found: BookmarkItem, correlation_id: str | None = None) -> WaitItem:
    payload: Mapping[str, Any] = found.payload if isinstance(found.payload, Mapping) else {}
    child = payload.get("child") if found.kind == "child" else None
    return WaitItem(
        what=_what(found, payload, correlation_id),
        activity_id=found.activity_id,
        due=found.due,
        child_id=None if child is None else str(child),
    )


def describe_wait(wait: WaitItem) -> str:
    """One condition with its time and the waiting activity."""
    until = "" if wait.due is None else _moment(wait.due)
    what = " ".join(filter(None, (wait.what, until)))
    return what if wait.activity_id is None else f"{what} (at '{wait.activity_id}')"


def _what(found: BookmarkItem, payload: Mapping[str, Any], correlation_id: str | None) -> str:
    if found.due is not None:
        return "the next attempt" if found.kind == "retry" else ""
    if "event_name" in payload:
        return f"the event '{payload['event_name']}'{_addressee(payload, correlation_id)}"
    if "route" in payload and "method" in payload:
        return f"an HTTP request {str(payload['method']).upper()} /{payload['route']}"
    if "task_id" in payload:
        return "a person's answer" if found.name == "HumanTask" else f"the task {payload['task_id']} to be completed"
    if found.kind == "child":
        child = payload.get("child")
        return f"the instance {child} to end" if child else "child instances to end"
    if found.name == "callback":
        return "the callback from the called service"
    return found.name + _details(found.payload)


def _incidents(count: int) -> str:
    return "an open incident" if count == 1 else f"{count} open incidents"


def _addressee(payload: Mapping[str, Any], correlation_id: str | None) -> str:
    if "key" in payload:
        return f" with key {_short(payload['key'])}"
    if "instance" in payload:
        return " sent to this instance"
    return f" with correlation id {correlation_id}" if correlation_id else ""


def _details(payload: Any) -> str:
    if payload in (None, {}, ""):
        return ""
    if isinstance(payload, Mapping):
        return " with " + ", ".join(f"{name} {_short(value)}" for name, value in payload.items())
    return f" {_short(payload)}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= TEXT_LENGTH_MAX else f"{text[: TEXT_LENGTH_MAX - 1]}…"


def _moment(due: datetime) -> str:
    at = due.astimezone(UTC)
    return f"until {at.day} {at:%b %Y, %H:%M:%S} UTC"
