"""What has to happen for an instance to go on, in words that a person can act on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from holdfast.model.stored import InstanceRow
from holdfast.server.schemas.instances import BookmarkItem, InstanceState

LONGEST = 120


def waiting_for(row: InstanceRow, state: InstanceState) -> str | None:
    """Null for an instance that waits for nothing."""
    if row.status == "faulted":
        return "somebody's retry: it failed"
    if row.finished is not None:
        return None
    told = [told_of(found, row.correlation_id) for found in state.bookmarks if found.kind != "timeout"]
    running = [found.activity_id for found in state.activities if found.waits_for == "effect"]
    told += [f"'{activity}' to end" for activity in running]
    if row.incidents:
        told.append("somebody to look at its incident" + ("s" if row.incidents > 1 else ""))
    return "; ".join(told) or None


def told_of(found: BookmarkItem, correlation_id: str | None = None) -> str:
    """One bookmark, with the activity that made it."""
    return f"{_what(found, correlation_id)} (at '{found.activity_id}')"


def _what(found: BookmarkItem, correlation_id: str | None) -> str:
    payload: Mapping[str, Any] = found.payload if isinstance(found.payload, Mapping) else {}
    if found.due is not None:
        return ("the next attempt " if found.kind == "retry" else "") + _moment(found.due)
    if "event_name" in payload:
        return f"the event '{payload['event_name']}'{_whose(payload, correlation_id)}"
    if "route" in payload and "method" in payload:
        return f"a request {str(payload['method']).upper()} /{payload['route']}"
    if "task_id" in payload:
        return "a person's answer" if found.name == "HumanTask" else f"the task {payload['task_id']} to be done"
    if found.kind == "child":
        child = payload.get("child")
        return f"the instance {child} to end" if child else "other instances to end"
    if found.name == "callback":
        return "the call-back of whom it asked"
    return found.name + _details(found.payload)


def _whose(payload: Mapping[str, Any], correlation_id: str | None) -> str:
    if "key" in payload:
        return f" of {_short(payload['key'])}"
    if "instance" in payload:
        return " sent to this instance"
    return f", correlation {correlation_id}" if correlation_id else ""


def _details(payload: Any) -> str:
    if payload in (None, {}, ""):
        return ""
    if isinstance(payload, Mapping):
        return " with " + ", ".join(f"{name} {_short(value)}" for name, value in payload.items())
    return f" {_short(payload)}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _moment(due: datetime) -> str:
    at = due.astimezone(UTC)
    return f"until {at.day} {at:%b %Y, %H:%M:%S} UTC"
