"""Journal of an instance: entries, and the executions and timeline derived from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from holdfast.execution.journal_policy import BARE_INPUTS
from holdfast.management.instances.journal_reader import (
    JournalLimits,
    JournalPosition,
    JournalWindow,
    numbered_entries,
)
from holdfast.model.instance import JournalEntry, JournalEvent
from holdfast.model.values import readable
from holdfast.server.backend import Backend
from holdfast.server.schemas.instances import (
    ExecutionItem,
    ExecutionList,
    JournalItem,
    JournalPage,
    Timeline,
    TimelineSpan,
)

EXECUTIONS = JournalLimits(commits=10_000, entries=10_000, bytes=4_000_000)
"""Part of the journal that one list of executions is made of."""
TIMELINE = JournalLimits(commits=10_000, entries=20_000, bytes=8_000_000)


async def entries(server: Backend, instance_id: str, position: JournalPosition, limits: JournalLimits) -> JournalWindow:
    found, following = await numbered_entries(server.runtime, instance_id, position, limits)
    return JournalWindow([(version, replace(entry, data=readable(entry.data))) for version, entry in found], following)


async def page(server: Backend, instance_id: str, position: JournalPosition, limit: int) -> JournalPage:
    found, following = await entries(server, instance_id, position, JournalLimits(commits=limit))
    following = following or JournalPosition(-1)
    return JournalPage(
        entries=[item(version, entry) for version, entry in found],
        next=None if following.after < 0 else following.after,
        skip=following.skip,
    )


def item(version: int, entry: JournalEntry) -> JournalItem:
    data = entry.data if isinstance(entry.data, dict) else {}
    attempt = data.get("attempt")
    return JournalItem(
        sequence=entry.sequence,
        version=version,
        at=entry.at,
        event=entry.event.value,
        activity_id=entry.activity_id,
        execution_id=entry.execution_id,
        attempt=attempt if isinstance(attempt, int) else None,
        name=entry.activity_name,
        type=entry.activity_type,
        why=data.get("saw", data.get("why")),
        data=entry.data,
    )


# -- executions --------------------------------------------------------------------------------------------------------

_ENDS = {
    JournalEvent.COMPLETED: "completed",
    JournalEvent.FAULTED: "faulted",
    JournalEvent.CANCELED: "canceled",
    JournalEvent.COMPENSATED: "compensated",
    JournalEvent.SKIPPED: "skipped",
}
_ANSWERS = {"True": True, "False": False}
"""The condition of a FlowDecision, by its outcome."""
_STATES = {JournalEvent.SUSPENDED: "waiting", JournalEvent.WAITING: "waiting", JournalEvent.EFFECT_RECORDED: "running"}


async def executions(
    server: Backend, instance_id: str, activity_id: str | None, position: JournalPosition
) -> ExecutionList:
    found, following = await entries(server, instance_id, position, EXECUTIONS)
    all_executions = executions_of(entry for _, entry in found)
    stats: dict[str, dict[str, int]] = {}
    for one in all_executions:
        counts = stats.setdefault(one.activity_id, {})
        counts[one.status] = counts.get(one.status, 0) + 1
    selected = [one for one in all_executions if activity_id is None or one.activity_id == activity_id]
    if following is None:
        return ExecutionList(items=selected, stats=stats)
    return ExecutionList(items=selected, stats=stats, next=following.after, skip=following.skip)


def executions_of(found: Iterable[JournalEntry]) -> list[ExecutionItem]:
    """One item per execution id, in start order."""
    made: dict[tuple[str, int | None], ExecutionItem] = {}
    for entry in found:
        if entry.activity_id is None or (entry.execution_id is None and entry.event is not JournalEvent.SKIPPED):
            continue
        key = (entry.activity_id, entry.execution_id)
        one = made.get(key)
        if one is None:
            one = made[key] = ExecutionItem(
                execution_id=entry.execution_id,
                activity_id=entry.activity_id,
                type=entry.activity_type,
                name=entry.activity_name,
                status="running",
                started=entry.at,
            )
        _apply(one, entry)
    return list(made.values())


def _apply(one: ExecutionItem, entry: JournalEntry) -> None:
    data: Any = entry.data
    fields = data if isinstance(data, dict) else {}
    if isinstance(fields.get("attempt"), int):
        one.attempt = fields["attempt"]
    found = _inputs(entry, fields)
    if found:
        one.inputs = {**(one.inputs or {}), **found}
    if entry.event is JournalEvent.EFFECT_RESULT and "outputs" in fields:
        one.outputs = fields["outputs"]
    if entry.event is JournalEvent.INCIDENT:
        one.incident_id = fields.get("id")
    if entry.event in _STATES or entry.event in (JournalEvent.RESUMED, JournalEvent.RETRY_SCHEDULED):
        one.status = _STATES.get(entry.event, "running" if entry.event is JournalEvent.RESUMED else "waiting")
        one.ended = one.duration_ms = None
    elif entry.event in _ENDS:
        one.status = _ENDS[entry.event]
        one.ended = entry.at
        one.duration_ms = (entry.at - one.started).total_seconds() * 1000
        if entry.event is JournalEvent.COMPLETED:
            one.outcome = fields.get("outcome", fields.get("outcomes"))
            if one.outputs is None:
                one.outputs = _outputs(entry, data)


def _inputs(entry: JournalEntry, fields: dict[str, Any]) -> dict[str, Any]:
    """Values of inputs that the entry has: under their names, or as its only value."""
    bare = BARE_INPUTS.get(entry.activity_type or "")
    if bare is not None and entry.event is JournalEvent.COMPLETED and entry.data is not None:
        return {bare: entry.data}
    given = fields.get("inputs")
    found = given if isinstance(given, dict) else {}
    answer = fields.get("answer", _ANSWERS.get(str(fields.get("outcome"))))
    return {**found, "condition": answer} if isinstance(answer, bool) and "saw" in fields else found


def _outputs(entry: JournalEntry, data: Any) -> Any:
    if BARE_INPUTS.get(entry.activity_type or "") is not None:
        return None
    if not isinstance(data, dict):
        return data
    return {name: value for name, value in data.items() if name != "inputs"} or None


# -- timeline ----------------------------------------------------------------------------------------------------------


async def timeline(server: Backend, instance_id: str) -> Timeline:
    found, _ = await entries(server, instance_id, JournalPosition(), TIMELINE)
    row = await server.runtime.row(instance_id)
    spans = [
        TimelineSpan(
            activity_id=one.activity_id,
            execution_id=one.execution_id,
            name=one.name,
            type=one.type,
            status=one.status,
            started=one.started,
            ended=one.ended,
        )
        for one in executions_of(entry for _, entry in found)
    ]
    return Timeline(begins=_begins([entry for _, entry in found], row.created), ends=row.finished, spans=spans)


def _begins(found: Sequence[JournalEntry], created: datetime) -> datetime:
    return min((entry.at for entry in found), default=created)
