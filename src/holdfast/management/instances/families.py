"""Families: an instance with the children that it waits for, as one run. The command line waits for families."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from holdfast.errors import InstanceNotFound
from holdfast.model.cluster import NodeRow
from holdfast.model.instance import BookmarkKind
from holdfast.model.work import NO_OWNER, WorkKind
from holdfast.runtime.commits.bookmark_rows import child_of, timer_id
from holdfast.runtime.commits.jobs.resume import ResumeJob
from holdfast.runtime.facade import Runtime
from holdfast.runtime.result import RunResult


async def read_family(runtime: Runtime, instance_id: str) -> RunResult:
    """The instance with the children that it waits for."""
    result = await runtime.read(instance_id)
    for key, child in _children(result).items():
        try:
            result.children[key] = await read_family(runtime, child)
        except InstanceNotFound:
            continue  # Its start row is not executed yet.
    return result


def _children(result: RunResult) -> dict[str, str]:
    """Ids of the children by bookmark. A bookmark that waits for many children has one key per child."""
    live = result._live
    found: dict[str, str] = {}
    if result.status.at_rest:
        return found
    for mark in live.bookmarks.values():
        if mark.kind is not BookmarkKind.CHILD:
            continue
        waiter = live.waiters[mark.execution_id]
        many = waiter.node.hooks.children
        if many is None:
            found[mark.id] = child_of(mark)
        else:
            found |= {f"{mark.id}~{child}": child for child in many(live, waiter)}
    return found


def members(result: RunResult) -> list[str]:
    return [result.instance_id, *(name for child in result.children.values() for name in members(child))]


async def settle_family(runtime: Runtime, instance_id: str) -> RunResult:
    """Wait until this node does not work on any instance of the run."""
    while True:
        result = await read_family(runtime, instance_id)
        working = [name for name in _expected(result) if runtime.works_on(name)]
        if not working:
            # The run may have changed between the read and the check.
            again = await read_family(runtime, instance_id)
            if again.commits == result.commits and members(again) == members(result):
                return again
            continue
        await runtime.settled(working[0])


def _expected(result: RunResult) -> list[str]:
    """The instances of the run, and the children whose start is queued."""
    below = [name for item in result.children.values() for name in _expected(item)]
    return [result.instance_id, *_children(result).values(), *below]


async def take_up(runtime: Runtime, instance_ids: Sequence[str]) -> int:
    """Execute the due work rows of these instances; returns their number without timers."""
    now = await runtime.store.now()
    taken = 0
    for instance_id in instance_ids:
        export = await runtime.store.export_instance(runtime.tenant, instance_id)
        rows = [row for row in (export.work if export is not None else ()) if row.due is None or row.due <= now]
        runtime.take_rows(rows)
        taken += len([row for row in rows if row.kind != WorkKind.TIMER])
    return taken


async def owners(runtime: Runtime, instance_ids: Sequence[str]) -> list[NodeRow]:
    """Other live nodes that own effects of these instances."""
    store = runtime.store
    rows = [row for name in instance_ids for row in await store.effects_of(runtime.tenant, name)]
    wanted = {row.owner for row in rows} - {NO_OWNER, runtime.membership.owner}
    now = await store.now()
    return [node for node in await store.list_nodes() if node.owner in wanted and node.alive_at(now)]


def next_due(result: RunResult) -> datetime | None:
    """The earliest due time of the run."""
    due = [mark.due for mark in result._live.bookmarks.values() if mark.due is not None]
    due += [moment for child in result.children.values() if (moment := next_due(child)) is not None]
    return min(due) if due and not result.status.at_rest else None


def fire_due(runtime: Runtime, result: RunResult, now: datetime) -> None:
    """Resume bookmarks that are due. The job consumes the work row of the timer."""
    for mark in result._live.bookmarks.values():
        if mark.due is not None and mark.due <= now:
            row = timer_id(result.instance_id, mark.id)
            key = runtime.key(result.instance_id)
            runtime.submit(ResumeJob(key, mark.id, is_hint=True, wants_answer=False, consumes_work=row))
    for child in result.children.values():
        fire_due(runtime, child, now)
