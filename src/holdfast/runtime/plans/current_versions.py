"""Current versions and triggers of definitions, cached until the store's epoch changes (rule M14).

Every change of a definition increments the epoch. Reads of batches and claims return it; without such a read it is queried
at most every 300 ms, so a change is noticed everywhere within a second.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from holdfast.model.catalog import DefinitionVersion, TriggerRow, Which
from holdfast.ports import Store

EPOCH_FRESH_FOR = timedelta(milliseconds=300)
"""Time for which a seen epoch counts as current."""
CACHED_MAX = 10_000
"""Cached versions, and cached trigger lookups."""

T = TypeVar("T")


class CurrentVersions:
    def __init__(self, store: Store, tenant: str) -> None:
        self._store = store
        self._tenant = tenant
        self._epoch = -1
        self._seen = float("-inf")
        self._labels: OrderedDict[tuple[str, int | Which], DefinitionVersion | None] = OrderedDict()
        self._triggers: OrderedDict[int, Sequence[TriggerRow]] = OrderedDict()
        self._queries: dict[Hashable, asyncio.Task[Any]] = {}
        self.on_epoch: Callable[[], None] | None = None
        """Called when a read returned a new epoch."""

    def saw(self, epoch: int) -> None:
        """A read returned this epoch. Reads may overtake each other: an older epoch is ignored."""
        if epoch < self._epoch:
            return
        if epoch != self._epoch:
            self._epoch = epoch
            self._labels.clear()
            self._triggers.clear()
            if self.on_epoch is not None:
                self.on_epoch()
        self._seen = asyncio.get_running_loop().time()

    def changed(self) -> None:
        """This process changed a definition: the next read queries the epoch."""
        self._seen = float("-inf")

    async def refresh(self) -> int:
        """The current epoch, queried unless it was seen recently."""
        if asyncio.get_running_loop().time() - self._seen > EPOCH_FRESH_FOR.total_seconds():
            self.saw(await self._once("epoch", self._store.epoch))
        return self._epoch

    async def version(self, definition_id: str, which: int | Which) -> DefinitionVersion | None:
        await self.refresh()
        key = (definition_id, which)
        if key not in self._labels:
            epoch = self._epoch
            found = await self._once(
                (definition_id, which, epoch),
                lambda: self._store.find_version(self._tenant, definition_id, which),
            )
            if epoch != self._epoch:
                return found  # The epoch changed meanwhile: the answer is usable but must not be cached.
            self._labels[key] = found
            if len(self._labels) > CACHED_MAX:
                self._labels.popitem(last=False)
        return self._labels[key]

    async def _once(self, key: Hashable, ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Concurrent callers (the starts of 10,000 children) share one query."""
        task: asyncio.Task[T] | None = self._queries.get(key)
        if task is None:
            task = self._queries[key] = asyncio.get_running_loop().create_task(ask())
            task.add_done_callback(lambda _: self._queries.pop(key, None))
        return await asyncio.shield(task)

    async def triggers(self, keys: Sequence[int]) -> list[TriggerRow]:
        await self.refresh()
        epoch = self._epoch
        # Taken before the query: a new epoch that is seen during the query clears the cache.
        found = {key: self._triggers[key] for key in keys if key in self._triggers}
        missing = [key for key in keys if key not in found]
        if missing:
            rows = await self._store.find_triggers(self._tenant, missing)
            queried = {key: [row for row in rows if row.key == key] for key in missing}
            found.update(queried)
            if epoch == self._epoch:
                self._triggers.update(queried)
                while len(self._triggers) > CACHED_MAX:
                    self._triggers.popitem(last=False)
        return [row for key in keys for row in found[key]]
