"""Reads of open steps. Steps of one instance that are taken at the same time share a read: it returns all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from holdfast.model.stored import InstanceKey
from holdfast.model.work import EffectRef, EffectRow
from holdfast.ports import Store

_Read = asyncio.Task[Sequence[EffectRow]]


class EffectReads:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._reads: dict[InstanceKey, _Read] = {}

    async def find(self, key: InstanceKey, ref: EffectRef) -> EffectRow | None:
        """The effect that still matches `ref`."""
        earlier = self._reads.get(key)
        if earlier is not None and (found := await _match(earlier, ref)) is not None:
            return found
        # The earlier read may have begun before the effect was stored.
        later = self._reads.get(key)
        return await _match(self._begin(key) if later is None or later is earlier else later, ref)

    def _begin(self, key: InstanceKey) -> _Read:
        read = self._reads[key] = asyncio.create_task(self._read(key))
        return read

    async def _read(self, key: InstanceKey) -> Sequence[EffectRow]:
        try:
            return await self._store.effects_of(*key)
        finally:
            if self._reads.get(key) is asyncio.current_task():
                del self._reads[key]


async def _match(read: _Read, ref: EffectRef) -> EffectRow | None:
    return next((row for row in await asyncio.shield(read) if row.ref == ref), None)
