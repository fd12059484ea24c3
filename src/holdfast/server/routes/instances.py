"""`/api/instances`: list and read instances."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, Query

from holdfast.management.instances.journal_reader import JournalPosition
from holdfast.model.listing import InstanceFilter, InstanceQuery, InstanceSort
from holdfast.model.principal import Principal
from holdfast.server.backend import Backend, Server
from holdfast.server.documented_answers import answers
from holdfast.server.pagination import Cursor, Limit, Sort, Total, read_sort
from holdfast.server.problems import Refusal
from holdfast.server.routing import Routes
from holdfast.server.schemas.base import Page
from holdfast.server.schemas.instances import (
    ExecutionList,
    IncidentItem,
    InstanceCounts,
    InstanceDetail,
    InstanceItem,
    JournalPage,
    StatusName,
    Timeline,
)
from holdfast.server.security import requires
from holdfast.server.views import incidents, instances as views, journal

router = Routes("/instances", tags=["instances"], dependencies=[requires("instances:read")], responses=answers())

SORTS = tuple(item.value for item in InstanceSort)
Many = Annotated[list[str], Query()]


async def wanted(
    status: Annotated[list[StatusName], Query()] = [],  # noqa: B006 - FastAPI copies it
    definition_id: Many = [],  # noqa: B006
    version: Annotated[int | None, Query(ge=1, lt=2**31)] = None,
    correlation_id: Many = [],  # noqa: B006
    parent_id: str | None = None,
    name: Many = [],  # noqa: B006
    search: str = "",
    has_incidents: bool | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    updated_after: datetime | None = None,
    updated_before: datetime | None = None,
    finished_after: datetime | None = None,
    finished_before: datetime | None = None,
) -> InstanceFilter:
    """Filters of lists and counts."""
    times: dict[str, Any] = {
        "created_from": created_after,
        "created_before": created_before,
        "updated_from": updated_after,
        "updated_before": updated_before,
        "finished_from": finished_after,
        "finished_before": finished_before,
    }
    for key, moment in times.items():
        if moment is not None and moment.tzinfo is None:
            raise Refusal(422, "time.no_zone", f"{key} has no time zone. Write it like 2026-01-31T12:00:00Z.")
    return InstanceFilter(
        statuses=tuple(status),
        definition_ids=tuple(definition_id),
        definition_version=version,
        correlation_ids=tuple(correlation_id),
        parent_id=parent_id,
        names=tuple(name),
        search=search,
        has_incidents=has_incidents,
        **times,
    )


Wanted = Annotated[InstanceFilter, Depends(wanted)]
Skip = Annotated[int, Query(ge=0, lt=2**31, description="Entries of the first commit that the previous page had.")]
Position = Annotated[
    str | None, Query(description="INSTANCE:VERSION of a write that the list must include; waits up to 1 s.")
]


@router.get("")
async def list_instances(
    server: Server,
    filter: Wanted,
    sort: Sort = "-created",
    limit: Limit = 50,
    cursor: Cursor = None,
    position: Position = None,
    total: Total = False,
) -> Page[InstanceItem]:
    """Instances, latest first. `position` waits until the list includes that write."""
    return await page(server, filter, sort, limit, cursor, position, count=total)


async def page(
    server: Backend,
    filter: InstanceFilter,
    sort: str,
    limit: int,
    cursor: str | None,
    position: str | None = None,
    *,
    count: bool = False,
) -> Page[InstanceItem]:
    order = read_sort(sort, SORTS)
    found = await server.store.search(
        InstanceQuery(
            tenant=server.tenant,
            filter=filter,
            sort=InstanceSort(order.column),
            descending=order.descending,
            limit=limit,
            cursor=cursor,
            position=None if position is None else read_position(position),
        )
    )
    total = await server.store.count(server.tenant, filter) if count else None
    items = [await views.item(server, row) for row in found.items]
    return Page(items=items, total=total, next=found.cursor, stale=found.stale, capped=found.capped)


def read_position(text: str) -> tuple[str, int]:
    name, _, version = text.rpartition(":")
    if not name or not version.isascii() or not version.isdigit() or len(version) > 18:
        raise Refusal(422, "position.invalid", f"'{text}' is not a position. Write INSTANCE:VERSION.")
    return name, int(version)


@router.get("/counts")
async def count_instances(server: Server, filter: Wanted) -> InstanceCounts:
    """Number of instances per status."""
    found = dict(await server.store.count_by_status(server.tenant, filter))
    return InstanceCounts(by_status=found, total=sum(found.values()))


@router.get("/{id}", responses=answers(404))
async def get_instance(
    id: str, server: Server, who: Annotated[Principal, requires("instances:read")]
) -> InstanceDetail:
    """The current state, read from the store and never from a list. Resume links need the permission to resume."""
    return await views.detail(server, id, who)


@router.get("/{id}/journal", responses=answers(404))
async def get_journal(
    id: str,
    server: Server,
    after: Annotated[int, Query(ge=0, lt=2**62, description="Only entries of versions above this one.")] = 0,
    skip: Skip = 0,
    limit: Annotated[int, Query(ge=1, le=1000, description="Maximum number of commits.")] = 100,
) -> JournalPage:
    """Journal entries, in order: at most 2,000, and about 1 MB. Continue with `next` and `skip` of the page."""
    return await journal.page(server, id, JournalPosition(after, skip), limit)


@router.get("/{id}/executions", responses=answers(404))
async def list_executions(
    id: str,
    server: Server,
    activity_id: str | None = None,
    after: Annotated[int, Query(ge=0, lt=2**62)] = 0,
    skip: Skip = 0,
) -> ExecutionList:
    """Executions of all activities, with inputs, outputs and times as far as the journal has them. A list is made of at most
    10,000 journal entries, and about 4 MB. Continue with `next` and `skip`."""
    return await journal.executions(server, id, activity_id, JournalPosition(after, skip))


@router.get("/{id}/incidents", responses=answers(404))
async def list_instance_incidents(id: str, server: Server, only_open: bool = False) -> list[IncidentItem]:
    await server.runtime.row(id)
    return await incidents.of_instance(server, id, only_open=only_open)


@router.get("/{id}/children", responses=answers(404))
async def list_children(
    id: str, server: Server, sort: Sort = "-created", limit: Limit = 50, cursor: Cursor = None
) -> Page[InstanceItem]:
    await server.runtime.row(id)
    return await page(server, InstanceFilter(parent_id=id), sort, limit, cursor)


@router.get("/{id}/timeline", responses=answers(404))
async def get_timeline(id: str, server: Server) -> Timeline:
    """Start and end of each activity, for a timeline view."""
    return await journal.timeline(server, id)
