"""Bookmarks of many instances, read from the states of suspended instances."""

from __future__ import annotations

from contextlib import suppress

from holdfast.errors import BookmarkNotFound, HoldfastError, InstanceNotFound
from holdfast.model.instance import Status
from holdfast.model.listing import InstanceFilter, InstanceQuery
from holdfast.server.backend import Backend
from holdfast.server.schemas.instances import BookmarkItem, BookmarkPage
from holdfast.server.views import instances

WAITING_STATUSES = (Status.SUSPENDED.value, Status.RUNNING.value, Status.CANCELING.value)
INSTANCES_MAX = 200
"""Maximum number of instances that a request reads, unless its `limit` is higher."""


async def page(
    server: Backend, instance_id: str | None, name: str | None, limit: int, cursor: str | None, *, count: bool
) -> BookmarkPage:
    """A page consists of whole instances: it may contain slightly more bookmarks than requested, or fewer if they are rare. The
    index has names only together with payloads and omits bookmarks that only a timer resumes."""
    if instance_id is not None:
        found = await of(server, instance_id, name)
        return BookmarkPage(items=found, total=len(found))
    filter = InstanceFilter(statuses=WAITING_STATUSES)
    items: list[BookmarkItem] = []
    following, left = cursor, max(limit, INSTANCES_MAX)
    while len(items) < limit and left > 0:
        rows = await server.store.search(
            InstanceQuery(tenant=server.tenant, filter=filter, limit=min(limit, left), cursor=following)
        )
        left -= len(rows.items)
        for row in rows.items:
            with suppress(InstanceNotFound):  # deleted since the list was read
                items.extend(await of(server, row.id, name))
        following = rows.cursor
        if following is None:
            break
    total = (await server.store.stats(server.tenant)).bookmarks if count and name is None else None
    return BookmarkPage(items=items, total=total, next=following)


async def of(server: Backend, instance_id: str, name: str | None = None) -> list[BookmarkItem]:
    try:
        row, result = await instances.read(server, instance_id)
    except HoldfastError:
        await server.runtime.row(instance_id)  # raises InstanceNotFound
        return []  # this node does not have the workflow's code
    created = {item.seq: item.created for item in await server.store.bookmarks_of(server.tenant, row.id)}
    found = []
    for item in result._live.bookmarks.values() if not result.status.at_rest else ():
        if name is None or item.name == name:
            shown = instances.bookmark(item, row.id)
            number = item.id.removeprefix("b")
            shown.created = created.get(int(number)) if number.isdigit() else None
            found.append(shown)
    return found


async def named(server: Backend, instance_id: str, name: str) -> str:
    """The id of the oldest bookmark of that name."""
    found = await of(server, instance_id, name)
    if not found:
        raise BookmarkNotFound(name, instance_id=instance_id)
    return found[0].id
