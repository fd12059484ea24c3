"""Messages to subscribers, rendered once and shared: a thousand subscribers of one instance cost one read per change."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.management.instances.journal_reader import JournalLimits, JournalPosition
from holdfast.model.listing import InstanceFilter, InstanceQuery, InstanceSort
from holdfast.server.views import instances, journal

if TYPE_CHECKING:
    from holdfast.server.backend import Backend

KEPT_MAX = 256
TEXTS_MAX = 4
LIST_MAX = 100
CHANGES_MAX = 100
"""Commits sent one by one; a subscriber further behind gets the state."""


class Rendering(msgspec.Struct, frozen=True):
    """One message without the subscriber's own id."""

    kind: str
    version: int
    data: bytes
    """JSON."""
    texts: dict[str, str] = {}
    """Encoded messages by subscription id: most subscribers of one topic use the same id."""

    def text(self, quoted_id: str) -> str:
        found = self.texts.get(quoted_id)
        if found is None:
            head = f'{{"id":{quoted_id},"kind":"{self.kind}","version":{self.version},"data":'
            found = f"{head}{self.data.decode()}}}"
            if len(self.texts) < TEXTS_MAX:
                self.texts[quoted_id] = found
        return found


class Renderings:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._kept: OrderedDict[Hashable, asyncio.Future[Any]] = OrderedDict()

    async def state(self, instance_id: str, version: int) -> Rendering:
        """The current instance, at this version or later."""

        async def make() -> Rendering:
            backend = self._backend
            row, result = await instances.read(backend, instance_id)
            item = await instances.item(backend, row)
            data = {**item.model_dump(mode="json"), "state": _state(result)}
            return Rendering("state", row.version, msgspec.json.encode(data))

        found: Rendering = await self._once(("state", instance_id, version), make)
        return found

    async def changes(self, instance_id: str, after: int, version: int) -> list[Rendering]:
        """One change per commit above `after`, up to `version` at least; the last one has the current summary. The state alone if
        there are too many commits."""

        async def make() -> list[Rendering]:
            backend = self._backend
            found, more = await journal.entries(
                backend, instance_id, JournalPosition(after), JournalLimits(commits=CHANGES_MAX)
            )
            if more is not None:
                return [await self.state(instance_id, version)]
            row, result = await instances.read(backend, instance_id)
            by_version: dict[int, list[Any]] = {}
            for number, entry in found:
                if number <= row.version:
                    by_version.setdefault(number, []).append(journal.item(number, entry).model_dump(mode="json"))
            by_version.setdefault(row.version, [])
            item = await instances.item(backend, row)
            last = {"instance": item.model_dump(mode="json"), "state": _state(result)}
            return [
                Rendering(
                    "change",
                    number,
                    msgspec.json.encode({"entries": entries, **(last if number == row.version else {})}),
                )
                for number, entries in sorted(by_version.items())
            ]

        found: list[Rendering] = await self._once(("changes", instance_id, after, version), make)
        return found

    async def listing(self, definition_id: str | None) -> tuple[list[dict[str, Any]], dict[str, int]]:
        """The latest instances of a definition, or of all definitions, and the counts by status."""

        async def make() -> tuple[list[dict[str, Any]], dict[str, int]]:
            store, tenant = self._backend.store, self._backend.tenant
            wanted = InstanceFilter(definition_ids=(definition_id,) if definition_id else ())
            page = await store.search(
                InstanceQuery(tenant=tenant, filter=wanted, sort=InstanceSort.UPDATED, descending=True, limit=LIST_MAX)
            )
            items = [(await instances.item(self._backend, row)).model_dump(mode="json") for row in page.items]
            return items, dict(await store.count_by_status(tenant, wanted))

        found: tuple[list[dict[str, Any]], dict[str, int]] = await self._once(
            ("list", definition_id, self._backend.watch.turn, int(time.monotonic())), make
        )
        return found

    async def _once(self, key: Hashable, make: Callable[[], Awaitable[Any]]) -> Any:
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = asyncio.ensure_future(make())
            if len(self._kept) > KEPT_MAX:
                self._kept.popitem(last=False)
        try:
            return await asyncio.shield(kept)
        except Exception:
            self._kept.pop(key, None)  # The next caller tries again.
            raise


def _state(result: Any) -> Any:
    return instances.state_of(result).model_dump(mode="json")
