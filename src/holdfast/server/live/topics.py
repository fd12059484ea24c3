"""What can be followed: an instance, a definition, the list of instances. Each yields the state, then changes, for ever.

Nothing is queued for a subscriber: who is slow misses versions in between, and is told of the latest when there is room.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.errors import DefinitionNotFound, InstanceNotFound
from holdfast.model.catalog import DefinitionQuery, Which
from holdfast.model.listing import InstanceFilter, InstanceQuery, InstanceSort
from holdfast.server.live.renderings import Rendering, Renderings
from holdfast.server.live.watch import GONE
from holdfast.server.views import instances

if TYPE_CHECKING:
    from holdfast.server.backend import Backend

LIST_MAX = 100
LIST_APART = timedelta(milliseconds=250)
"""A list is looked at no more often than this, however much happens."""

PERMISSIONS = {"instance": "instances:read", "definition": "definitions:read", "instances": "instances:read"}


async def follow_instance(
    backend: Backend, renderings: Renderings, key: str, after: int | None
) -> AsyncIterator[Rendering]:
    """With `after` (the version seen before the connection broke) the changes since then come first, and no state."""
    with backend.watch.instance(key) as watcher:
        version = await watcher.changed(-2)
        if version == GONE:
            raise InstanceNotFound(key)
        seen = after
        if seen is None or seen > version:
            state = await renderings.state(key, version)
            yield state
            seen = state.version
        while True:
            version = await watcher.changed(seen)
            if version == GONE:
                yield Rendering("change", seen, msgspec.json.encode({"deleted": True}))
                return
            for change in await renderings.changes(key, seen, version):
                yield change
                seen = change.version


async def follow_definition(backend: Backend, key: str, after: int | None) -> AsyncIterator[Rendering]:
    """Its versions. The number is the epoch of all definitions: it grows with each change of any of them."""
    seen: Any = None
    with backend.watch.anything() as bell:
        first = True
        while True:
            bell.clear()
            epoch = await backend.store.epoch()
            data = await _definition(backend, key)
            if first and data is None:
                raise DefinitionNotFound(key)
            if data != seen:
                kind = "state" if first else "change"
                if not (first and after == epoch):
                    yield Rendering(kind, epoch, msgspec.json.encode(data or {"id": key, "deleted": True}))
                if data is None:
                    return
                seen = data
            first = False
            await bell.wait()


async def _definition(backend: Backend, key: str) -> dict[str, Any] | None:
    query = DefinitionQuery(which=Which.ALL, definition_ids=(key,), sort="version", descending=True, limit=1_000)
    rows, _ = await backend.store.list_versions(backend.tenant, query)
    if not rows:
        return None
    published = next((row.version for row in rows if row.published), None)
    latest = rows[0]
    return {
        "id": key,
        "name": latest.name,
        "latest_version": latest.version,
        "published_version": published,
        "has_draft": not latest.published,
        "content_hash": latest.content,
        "versions": [row.version for row in rows],
    }


async def follow_instances(backend: Backend, key: str | None, after: int | None) -> AsyncIterator[Rendering]:
    """The latest instances of a definition, or of all, with counts by status: a snapshot, then what changed in it (rule M8).
    The number only counts messages; a new connection begins with a new snapshot."""
    number = 0
    seen: dict[str, int] = {}
    counts: Any = None
    wanted = InstanceFilter(definition_ids=(key,) if key else ())
    with backend.watch.anything() as bell:
        while True:
            bell.clear()
            query = InstanceQuery(
                tenant=backend.tenant, filter=wanted, sort=InstanceSort.UPDATED, descending=True, limit=LIST_MAX
            )
            page = await backend.store.search(query)
            now = {row.id: row.version for row in page.items}
            counted = dict(await backend.store.count_by_status(backend.tenant, wanted))
            changed = [row for row in page.items if seen.get(row.id) != row.version]
            if number == 0 or changed or counted != counts:
                number += 1
                data: dict[str, Any] = {
                    "items": [(await instances.item(backend, row)).model_dump(mode="json") for row in changed],
                    "counts": counted,
                }
                yield Rendering("state" if number == 1 else "change", number, msgspec.json.encode(data))
                seen, counts = now, counted
            await bell.wait()
            await asyncio.sleep(LIST_APART.total_seconds())
