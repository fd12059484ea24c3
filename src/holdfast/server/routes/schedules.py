"""`/api/triggers` and `/api/schedules`: what starts instances by itself."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import Query

from holdfast.model.values import shown
from holdfast.server.backend import Server
from holdfast.server.documented import answers
from holdfast.server.paging import Cursor, Limit, Sort, paged
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
    found = [
        TriggerItem(**{**msgspec.structs.asdict(item), "payload": shown(item.payload)})
        for item in await server.runtime.triggers.list(definition_id)
        if type is None or item.type == type
    ]
    columns = ("definition_id", "version", "activity_id", "type")
    page, following = paged(
        found,
        sort=sort,
        columns=columns,
        limit=limit,
        cursor=cursor,
        key=lambda row: f"{row.definition_id}/{row.activity_id}/{row.payload}",
    )
    return Page(items=page, total=len(found), next=following)


@router.get("/schedules", dependencies=[READ])
async def list_schedules(
    server: Server,
    definition_id: str | None = None,
    sort: Sort = "due",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[ScheduleItem]:
    found = [_item(item) for item in await server.runtime.schedules.list(definition_id)]
    columns = tuple(ScheduleItem.model_fields)
    page, following = paged(found, sort=sort, columns=columns, limit=limit, cursor=cursor, key=lambda row: row.id)
    return Page(items=page, total=len(found), next=following)


@router.get("/schedules/preview", dependencies=[READ])
async def preview_schedule(server: Server, cron: str, zone: str = "UTC", count: Count = 5) -> NextTimes:
    """The next times of a cron expression that is not stored yet."""
    return NextTimes(times=list(await server.runtime.schedules.preview(cron, zone, count)))


@router.get("/schedules/{id}/next", dependencies=[READ], responses=answers(404))
async def next_times(id: str, server: Server, count: Count = 5) -> NextTimes:
    return NextTimes(times=list(await server.runtime.schedules.next_times(id, count)))


@router.post("/schedules/{id}/pause", dependencies=[WRITE], responses=answers(404))
async def pause_schedule(id: str, server: Server) -> ScheduleItem:
    """It fires no more until it is resumed, also after another publish."""
    return _item(await server.runtime.schedules.pause(id))


@router.post("/schedules/{id}/resume", dependencies=[WRITE], responses=answers(404))
async def resume_schedule(id: str, server: Server) -> ScheduleItem:
    """It fires again from now on; what it missed is gone."""
    return _item(await server.runtime.schedules.resume(id))


@router.post("/schedules/{id}/run", dependencies=[WRITE], responses=answers(404, 409))
async def run_schedule(id: str, server: Server) -> StartedNow:
    """Start an instance as the schedule would."""
    return StartedNow(instance_id=await server.runtime.schedules.run_now(id))


def _item(found: msgspec.Struct) -> ScheduleItem:
    return ScheduleItem.model_validate(msgspec.structs.asdict(found))
