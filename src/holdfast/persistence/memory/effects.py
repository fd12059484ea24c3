"""Effects and their owners, in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec.structs import replace

from holdfast.model.changes import EFFECTS, NO_TOPIC, of_topic
from holdfast.model.work import NO_OWNER, EffectRef, EffectRow, Owner
from holdfast.persistence.memory.tables import MemoryStoreBase


class MemoryEffects(MemoryStoreBase):
    async def own_effect(self, tenant: str, instance_id: str, ref: EffectRef, owner: Owner) -> EffectRow | None:
        return await self.move_effect(tenant, instance_id, ref, ref._replace(owner=owner))

    async def move_effect(self, tenant: str, instance_id: str, ref: EffectRef, new: EffectRef) -> EffectRow | None:
        key = (tenant, instance_id, ref.execution)
        row = self._tables.effects.get(key)
        if row is None or row.ref != ref:
            return None
        self._tables.effects[key] = replace(row, attempt=new.attempt, owner=new.owner)
        self._changed(NO_TOPIC if ref.owner == NO_OWNER else of_topic(EFFECTS))
        return self._tables.effects[key]

    async def effects_of(self, tenant: str, instance_id: str) -> Sequence[EffectRow]:
        return self._effects(lambda row: row.tenant == tenant and row.instance_id == instance_id)

    async def effects_owned(self, owner: Owner) -> Sequence[EffectRow]:
        return self._effects(lambda row: row.owner == owner)

    async def lost_effects(self, tenant: str, limit: int, after: tuple[str, int] = ("", 0)) -> Sequence[EffectRow]:
        now = self._now()
        alive = {node.owner for node in self._tables.nodes.values() if node.alive_at(now)} | {NO_OWNER}
        return self._effects(lambda row: row.owner not in alive and _is_after(row, tenant, after))[:limit]

    async def waiting_effects(
        self, tenant: str, created_before: datetime, limit: int, after: tuple[str, int] = ("", 0)
    ) -> Sequence[EffectRow]:
        def is_waiting(row: EffectRow) -> bool:
            return row.owner == NO_OWNER and row.created < created_before and _is_after(row, tenant, after)

        return self._effects(is_waiting)[:limit]

    def _effects(self, wanted: Callable[[EffectRow], bool]) -> list[EffectRow]:
        found = [row for row in self._tables.effects.values() if wanted(row)]
        return sorted(found, key=lambda row: (row.tenant, row.instance_id, row.execution))


def _is_after(row: EffectRow, tenant: str, after: tuple[str, int]) -> bool:
    return row.tenant == tenant and (row.instance_id, row.execution) > after
