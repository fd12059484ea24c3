"""Summaries and details of instances."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.execution.activation import STATUS_NAMES, Activation
from holdfast.model.instance import Bookmark, BookmarkKind, Incident, Status
from holdfast.model.listing import InstanceSummary
from holdfast.model.principal import Principal
from holdfast.model.stored import InstanceRow
from holdfast.model.tasks import HUMAN_TASK
from holdfast.model.values import readable, shown
from holdfast.model.writer import write_definition
from holdfast.runtime.result import RunResult
from holdfast.server.backend import Backend
from holdfast.server.schemas.instances import (
    ActivityState,
    BookmarkItem,
    ExecuteResult,
    IncidentItem,
    InstanceDetail,
    InstanceItem,
    InstanceResult,
    InstanceState,
    MomentDetail,
    PinnedDefinition,
)
from holdfast.server.views.waits import describe_wait, waits_of


def shown_all(values: dict[str, Any]) -> dict[str, Any]:
    return {name: shown(value) for name, value in values.items()}


async def item(server: Backend, row: InstanceRow | InstanceSummary) -> InstanceItem:
    return InstanceItem(
        id=row.id,
        definition_id=row.definition_id,
        definition_name=await server.title(row.content, row.definition_id),
        definition_version=row.definition_version,
        status=Status(row.status).value,
        correlation_id=row.correlation_id,
        name=row.name,
        parent_id=row.parent_id,
        incidents=row.incidents,
        created=row.created,
        updated=row.updated,
        finished=row.finished,
        version=row.version,
    )


async def read(server: Backend, instance_id: str) -> tuple[InstanceRow, RunResult]:
    """Row and state of the same version, so that a detail is consistent."""
    return await server.runtime.read_with_row(instance_id)


async def detail(server: Backend, instance_id: str, who: Principal) -> InstanceDetail:
    unreadable = None
    try:
        row, result = await read(server, instance_id)
        state = state_of(result)
        add_links(server, state.bookmarks, who)
    except HoldfastError as error:
        row = await server.runtime.row(instance_id)  # raises InstanceNotFound
        state, unreadable = InstanceState(), str(error)
    base, waits = await item(server, row), waits_of(row, state)
    return InstanceDetail(
        **base.model_dump(),
        state=state,
        definition=PinnedDefinition(id=row.definition_id, version=row.definition_version, content=row.content),
        document=await server.document(row.content),
        waiting_for="; ".join(map(describe_wait, waits)) or None,
        waits=waits,
        position=row.version,
        unreadable=unreadable,
    )


async def moment(server: Backend, instance_id: str, version: int) -> MomentDetail:
    await server.runtime.row(instance_id)  # raises InstanceNotFound
    result = await server.runtime.read_at(instance_id, version)
    return MomentDetail(
        version=version,
        status=result.status.value,
        state=state_of(result),
        document=write_definition(result._live.plan.definition),
    )


def state_of(result: RunResult) -> InstanceState:
    live = result._live
    scope = live.root.scope
    inputs = {name: scope[slot] for name, slot in scope[1].inputs.items()}
    return InstanceState(
        variables=shown_all(result.variables),
        inputs=shown_all(inputs),
        outputs=shown_all(result.outputs),
        properties=shown_all(result.properties),
        activities=[_activity(found) for found in (live.root, *live.root.descendants())] if not _ended(result) else [],
        bookmarks=[bookmark(found, result.instance_id) for found in _open(result)],
        incidents=[incident(found, result.instance_id) for found in result.incidents],
    )


def _ended(result: RunResult) -> bool:
    return result.status.at_rest


def _open(result: RunResult) -> Iterable[Bookmark]:
    """Open bookmarks, including those of timeouts and children."""
    return () if result.status.at_rest else result._live.bookmarks.values()


def _activity(found: Activation) -> ActivityState:
    definition = found.node.definition
    waits: Any = "children" if found.kids else "bookmark" if found.bookmarks else "effect"
    return ActivityState(
        execution_id=found.id,
        activity_id=found.node.key,
        type=definition.type,
        name=definition.name,
        status=STATUS_NAMES[found.status],
        attempt=found.attempt,
        scheduled_by=None if found.owner is None else found.owner.id,
        waits_for=waits,
    )


def bookmark(found: Bookmark, instance_id: str) -> BookmarkItem:
    return BookmarkItem(
        id=found.id,
        name=found.name,
        activity_id=found.activity_id,
        execution_id=found.execution_id,
        kind=found.kind.value,
        payload=shown(found.payload),
        due=found.due,
        instance_id=instance_id,
    )


def add_links(server: Backend, items: Iterable[BookmarkItem], who: Principal) -> None:
    """A link is equivalent to the permission to resume, so only principals with that permission get links."""
    if who.may("instances:write"):
        _add_links(server, items)


def _add_links(server: Backend, items: Iterable[BookmarkItem]) -> None:
    for item in items:
        if item.kind == BookmarkKind.ACTIVITY.value and item.name != HUMAN_TASK:  # A task is answered as a task.
            item.resume_url = server.resume_url(item.instance_id, item.id)


_FILE = re.compile(r"(?:/|[A-Za-z]:[/\\])[^\n]*:\d+")


def shown_source(source: str | None) -> str | None:
    """The source of an incident. Of a file only the last folder is shown: paths of the server are not for its users."""
    if source is None or _FILE.fullmatch(source) is None:
        return source
    return "/".join(re.split(r"[/\\]", source)[-2:])


def incident(found: Incident, instance_id: str) -> IncidentItem:
    """An open incident, from the state of the instance; resolved ones are rows of the store."""
    return IncidentItem(
        id=found.id,
        instance_id=instance_id,
        type=found.type,
        message=found.message,
        at=found.at,
        open=True,
        activity_id=found.activity_id,
        activity_type=found.activity_type,
        activity_name=found.activity_name,
        execution_id=found.execution_id,
        attempt=found.attempt,
        source=shown_source(found.source),
        inputs=readable(dict(found.inputs)),
        details=shown_all(dict(found.details)),
    )


def result_of(server: Backend, result: RunResult, position: int) -> InstanceResult:
    """With resume links: a caller who changed the instance may also resume it."""
    return InstanceResult(**_result(server, result, position, links=True))


def execute_result_of(
    server: Backend, result: RunResult, position: int, *, existing: bool, links: bool
) -> ExecuteResult:
    return ExecuteResult(**_result(server, result, position, links=links), existing=existing)


def _result(server: Backend, result: RunResult, position: int, *, links: bool) -> dict[str, Any]:
    bookmarks = [bookmark(found, result.instance_id) for found in result.bookmarks]
    if links:
        _add_links(server, bookmarks)
    return {
        "instance_id": result.instance_id,
        "status": result.status.value,
        "outputs": shown_all(result.outputs),
        "incidents": [incident(found, result.instance_id) for found in result.incidents],
        "bookmarks": bookmarks,
        "position": position,
    }
