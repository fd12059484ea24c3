"""Diagnosis of one instance: everything that it waits for, with a remedy for each."""

from __future__ import annotations

from datetime import datetime

from holdfast.management.doctor.findings import Finding, Level
from holdfast.model.cluster import NodeRow
from holdfast.model.instance import Bookmark, BookmarkKind, Status
from holdfast.model.work import NO_OWNER, EffectRow, InboxRow
from holdfast.runtime.facade import Runtime
from holdfast.runtime.result import RunResult

ENDED = {
    Status.FINISHED: ("It has finished. There is nothing to do.", ""),
    Status.CANCELED: ("It was canceled. A canceled instance cannot continue.", "Start a new one."),
    Status.FAULTED: ("It has faulted.", "Fix the cause, then: holdfast instances retry ID"),
}


async def why_it_waits(runtime: Runtime, instance_id: str) -> list[Finding]:
    """Findings in the order in which an operator would check them. Raises `InstanceNotFound`."""
    result = await runtime.read(instance_id)
    found = [Finding(subject="status", message=f"{result.status.value}, definition '{result.definition.id}'")]
    found += _incidents(result)
    if result.status.at_rest:
        message, remedy = ENDED[result.status]
        return [*found, Finding(subject="end", level=Level.HINT, message=message, remedy=remedy)]
    now = await runtime.store.now()
    nodes = {row.owner: row for row in await runtime.store.list_nodes()}
    effects = await runtime.store.effects_of(runtime.tenant, instance_id)
    inbox = await runtime.store.inbox_of(runtime.tenant, instance_id)
    # A row keeps the name that its activity had when it was written; the instance may have migrated since.
    names = {item["execution_id"]: item["activity_id"] for item in result.state.get("effects", ())}
    found += [_effect(row, names.get(row.execution, row.activity_id), nodes.get(row.owner), now) for row in effects]
    found += [_bookmark(mark, now) for mark in result.bookmarks]
    found += [_unread(row) for row in inbox]
    if not effects and not result.bookmarks:
        found.append(await _nothing(runtime, instance_id, result))
    return found


def _incidents(result: RunResult) -> list[Finding]:
    return [
        Finding(
            subject="incident",
            level=Level.WRONG,
            message=f"{item.activity_id or 'workflow'}: {item.type}: {item.message}",
            remedy=f"at {item.source}" if item.source else "",
        )
        for item in result.incidents
    ]


def _effect(row: EffectRow, activity: str, owner: NodeRow | None, now: datetime) -> Finding:
    what = f"'{activity}' (attempt {row.attempt}, since {row.created:%Y-%m-%d %H:%M:%S})"
    if row.canceled:
        what += " was canceled, and the instance waits for its end; it"
    hold = row.on_lost == "hold"
    if row.owner == NO_OWNER and (row.queue or not hold):
        queue = f" of queue '{row.queue}'" if row.queue else ""
        return Finding(
            subject="effect",
            level=Level.HINT,
            message=f"{what} waits for a worker{queue}",
            remedy="Is a worker alive that serves this queue? See: holdfast doctor",
        )
    if owner is not None and owner.alive_at(now):
        return Finding(subject="effect", message=f"{what} runs on node '{row.owner.node}', which is alive")
    return Finding(
        subject="effect",
        level=Level.WRONG if hold else Level.HINT,
        message=f"{what} ran on a node that was stopped"
        if row.owner == NO_OWNER
        else f"{what} ran on node '{row.owner.node}', which died",
        remedy="It does not run again automatically (on_lost: hold). Check its outcome, then cancel the instance, or: "
        f"holdfast instances recover {row.instance_id}"
        if hold
        else "Any live worker takes it over within seconds. Is one alive? See: holdfast doctor",
    )


def _bookmark(mark: Bookmark, now: datetime) -> Finding:
    what = f"'{mark.activity_id}' waits"
    if mark.due is not None:
        late = mark.due <= now
        return Finding(
            subject="bookmark",
            level=Level.HINT if late else Level.OK,
            message=f"{what} until {mark.due:%Y-%m-%d %H:%M:%S} UTC" + (", which has passed" if late else ""),
            remedy="Timers are fired by live workers. Is one alive? See: holdfast doctor" if late else "",
        )
    if mark.kind is BookmarkKind.CHILD:
        child = mark.payload.get("child") if isinstance(mark.payload, dict) else None
        return Finding(
            subject="bookmark", message=f"{what} for its child {child}", remedy=f"holdfast doctor instance {child}"
        )
    return Finding(
        subject="bookmark",
        message=f"{what} for a stimulus '{mark.name}' with {mark.payload!r} (bookmark {mark.id})",
        remedy="Was it sent? See what matches: holdfast doctor stimulus TYPE --payload JSON",
    )


def _unread(row: InboxRow) -> Finding:
    return Finding(
        subject="inbox",
        level=Level.HINT,
        message=f"a stimulus '{row.type}' arrived {row.arrived:%Y-%m-%d %H:%M:%S} and fits no bookmark so far",
        remedy="It is kept for a bookmark that fits. Does its type or payload differ from the awaited one?",
    )


async def _nothing(runtime: Runtime, instance_id: str, result: RunResult) -> Finding:
    stuck = {key.id for key in await runtime.store.find_stuck(1000)}
    if instance_id in stuck:
        return Finding(
            subject="stuck",
            level=Level.WRONG,
            message="Nothing can wake it: it has no bookmark, no effect and no work.",
            remedy="This is a bug: please report it. Schedule an activity by an alteration, or cancel the instance.",
        )
    waits = "its start is queued" if result.status is Status.PENDING else "its next segment is queued"
    return Finding(
        subject="work",
        level=Level.HINT,
        message=f"{waits} or runs now",
        remedy="Is a worker alive that serves it? See: holdfast doctor",
    )
