"""`/api/triggers` and `/api/schedules`: automatic starts of instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from fastapi import Query

from holdfast.management.schedules import Schedule
from holdfast.management.triggers import Trigger
from holdfast.model.catalog import Which
from holdfast.model.values import shown
from holdfast.server.backend import Backend, Server
from holdfast.server.documented_answers import answers
from holdfast.server.pagination import Cursor, Limit, Sort, paged
from holdfast.server.routing import Routes
from holdfast.server.schemas.base import Page
from holdfast.server.schemas.operations import NextTimes, ScheduleItem, StartedNow, TriggerItem
from holdfast.server.security import requires

router = Routes(tags=["schedules"], responses=answers())

READ, WRITE = requires("definitions:read"), requires("operations:write")
Count = Annotated[int, Query(ge=1, le=100)]


@router.get("/triggers", dependencies=[READ])
async def list_triggers(
    server: Server,
    definition_id: str | None = None,
    type: str | None = None,
    sort: Sort = "definition_id",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[TriggerItem]:
    """Triggers of published definitions."""
    found = [item for item in await server.runtime.triggers.list(definition_id) if type is None or item.type == type]
    columns = ("definition_id", "version", "activity_id", "type")
    page, following = paged(
        found,
        sort=sort,
        columns=columns,
        limit=limit,
        cursor=cursor,
        key=lambda row: f"{row.definition_id}/{row.activity_id}/{row.payload}",
    )
    named = await _names(server, page)
    items = [
        TriggerItem(**{**msgspec.structs.asdict(item), **name, "payload": shown(item.payload)})
        for item, name in zip(page, named, strict=True)
    ]
    return Page(items=items, total=len(found), next=following)


@router.get("/schedules", dependencies=[READ])
async def list_schedules(
    server: Server,
    definition_id: str | None = None,
    sort: Sort = "due",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[ScheduleItem]:
    found = await server.runtime.schedules.list(definition_id)
    columns = Schedule.__struct_fields__
    page, following = paged(found, sort=sort, columns=columns, limit=limit, cursor=cursor, key=lambda row: row.id)
    return Page(items=await _items(server, page), total=len(found), next=following)


@router.get("/schedules/preview", dependencies=[READ])
async def preview_schedule(server: Server, cron: str, zone: str = "UTC", count: Count = 5) -> NextTimes:
    """The next times of a cron expression that is not stored."""
    return NextTimes(times=list(await server.runtime.schedules.preview(cron, zone, count)))


@router.get("/schedules/{id}/next", dependencies=[READ], responses=answers(404))
async def next_times(id: str, server: Server, count: Count = 5) -> NextTimes:
    return NextTimes(times=list(await server.runtime.schedules.next_times(id, count)))


@router.post("/schedules/{id}/pause", dependencies=[WRITE], responses=answers(404))
async def pause_schedule(id: str, server: Server) -> ScheduleItem:
    """Stop the schedule until it is resumed. A new publish does not resume it."""
    (item,) = await _items(server, [await server.runtime.schedules.pause(id)])
    return item


@router.post("/schedules/{id}/resume", dependencies=[WRITE], responses=answers(404))
async def resume_schedule(id: str, server: Server) -> ScheduleItem:
    """Resume the schedule from now on; missed times are skipped."""
    (item,) = await _items(server, [await server.runtime.schedules.resume(id)])
    return item


@router.post("/schedules/{id}/run", dependencies=[WRITE, requires("definitions:execute")], responses=answers(404, 409))
async def run_schedule(id: str, server: Server) -> StartedNow:
    """Start an instance now, as the schedule would."""
    return StartedNow(instance_id=await server.runtime.schedules.run_now(id))


async def _items(server: Backend, found: Sequence[Schedule]) -> list[ScheduleItem]:
    named = await _names(server, found)
    return [
        ScheduleItem.model_validate({**msgspec.structs.asdict(item), **name})
        for item, name in zip(found, named, strict=True)
    ]


async def _names(server: Backend, found: Sequence[Schedule | Trigger]) -> list[dict[str, str | None]]:
    """Display names of definition and activity, for each row."""
    labels = await server.labels((item.definition_id for item in found), Which.PUBLISHED)
    names: list[dict[str, str | None]] = []
    for item in found:
        label = labels.get(item.definition_id)
        starts = {} if label is None else (await server.facts(label.content)).starts
        name = item.definition_id if label is None else label.name
        names.append({"definition_name": name or item.definition_id, "activity_name": starts.get(item.activity_id)})
    return names
