"""Topics of live updates: an instance, a definition, the list of instances. Each yields the state, then changes, without end.

Nothing is queued for a subscriber: a slow subscriber skips versions and receives the latest one when it can.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.errors import DefinitionNotFound, InstanceNotFound
from holdfast.model.catalog import DefinitionQuery, Which
from holdfast.server.live.messages import Rendering, Renderings
from holdfast.server.live.watch import GONE

if TYPE_CHECKING:
    from holdfast.server.backend import Backend

LIST_MAX = 100
LIST_MIN_INTERVAL = timedelta(milliseconds=250)
"""Minimum time between two queries of a list, at any rate of changes."""

LIST_RECHECK_DELAY = timedelta(seconds=1)
"""Delay of one more query after a change: lists may be written a moment after the commit."""

PERMISSIONS = {"instance": "instances:read", "definition": "definitions:read", "instances": "instances:read"}


async def follow_instance(
    backend: Backend, renderings: Renderings, key: str, after: int | None
) -> AsyncIterator[Rendering]:
    """With `after` (the last version seen before a disconnect), the changes since then come first, without a state."""
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
    """The versions of a definition. The number is the epoch of all definitions: it grows with each change to any of them."""
    seen: Any = None
    with backend.watch.anything() as event:
        first = True
        while True:
            event.clear()
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
            await event.wait()


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


async def follow_instances(backend: Backend, renderings: Renderings, key: str | None) -> AsyncIterator[Rendering]:
    """The latest instances of a definition, or of all, with counts by status: a snapshot, then its changes (rule M8). The
    number only counts messages; a new connection starts with a new snapshot."""
    number = 0
    seen: dict[str, int] = {}
    counts: Any = None
    rechecked = False
    with backend.watch.anything() as event:
        while True:
            event.clear()
            rows, counted = await renderings.listing(key)
            changed = [row for row in rows if seen.get(row["id"]) != row["version"]]
            if number == 0 or changed or counted != counts:
                number += 1
                data = msgspec.json.encode({"items": changed, "counts": counted})
                yield Rendering("state" if number == 1 else "change", number, data)
                seen, counts = {row["id"]: row["version"] for row in rows}, counted
            rechecked = await _wait(event, None if rechecked else LIST_RECHECK_DELAY)
            await asyncio.sleep(LIST_MIN_INTERVAL.total_seconds())


async def _wait(event: asyncio.Event, limit: timedelta | None) -> bool:
    """Waits for a change; True if the limit passed first."""
    try:
        async with asyncio.timeout(None if limit is None else limit.total_seconds()):
            await event.wait()
    except TimeoutError:
        return True
    return False
