"""Effects and their owners."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from holdfast.model.changes import EFFECTS, NO_TOPIC, of_topic
from holdfast.model.work import NO_OWNER, EffectRef, EffectRow, Owner
from holdfast.persistence.sql.instance_tables import EFFECT
from holdfast.persistence.sql.script import Script, Value, execute
from holdfast.persistence.sql.store_base import SqlStoreBase
from holdfast.persistence.sql.tables import micros

_ORDER = " order by tenant, instance_id, execution"
_PAGE = " and tenant = ? and (instance_id > ? or (instance_id = ? and execution > ?))" + _ORDER + " limit ?"
_LOST = """ where owner_node <> '' and not exists (
    select 1 from hf_node n where n.id = hf_effect.owner_node and n.boot = hf_effect.owner_boot
    and n.state <> 'left' and n.heartbeat + n.time_to_live > ?)"""


class SqlEffects(SqlStoreBase):
    async def own_effect(self, tenant: str, instance_id: str, ref: EffectRef, owner: Owner) -> EffectRow | None:
        return await self.move_effect(tenant, instance_id, ref, ref._replace(owner=owner))

    async def move_effect(self, tenant: str, instance_id: str, ref: EffectRef, new: EffectRef) -> EffectRow | None:
        change = NO_TOPIC if ref.owner == NO_OWNER else of_topic(EFFECTS)
        return await self._write(lambda: self._move(tenant, instance_id, ref, new), change)

    async def effects_of(self, tenant: str, instance_id: str) -> Sequence[EffectRow]:
        return await self._read(self._effects(" where tenant = ? and instance_id = ?" + _ORDER, tenant, instance_id))

    async def effects_owned(self, owner: Owner) -> Sequence[EffectRow]:
        where = " where owner_node = ? and owner_boot = ?" + _ORDER
        return await self._read(self._effects(where, owner.node, owner.boot))

    async def lost_effects(self, tenant: str, limit: int, after: tuple[str, int] = ("", 0)) -> Sequence[EffectRow]:
        return await self._read(self._lost(tenant, limit, after))

    async def waiting_effects(
        self, tenant: str, created_before: datetime, limit: int, after: tuple[str, int] = ("", 0)
    ) -> Sequence[EffectRow]:
        where = " where owner_node = ? and owner_boot = ? and created < ?" + _PAGE
        before = micros(created_before)
        return await self._read(self._effects(where, *NO_OWNER, before, tenant, after[0], *after, limit))

    def _effects(self, where: str, *values: Value) -> Script[list[EffectRow]]:
        rows = yield execute(EFFECT.select + where, *values)
        return EFFECT.rows(rows, self._codec)

    def _lost(self, tenant: str, limit: int, after: tuple[str, int]) -> Script[list[EffectRow]]:
        now = yield from self._micros_now()
        return (yield from self._effects(_LOST + _PAGE, now, tenant, after[0], *after, limit))

    def _move(self, tenant: str, instance_id: str, ref: EffectRef, new: EffectRef) -> Script[EffectRow | None]:
        where = " where tenant = ? and instance_id = ? and execution = ?"
        found = yield from self._effects(where + self._dialect.lock, tenant, instance_id, ref.execution)
        if not found or found[0].ref != ref:
            return None
        yield execute(
            "update hf_effect set attempt = ?, owner_node = ?, owner_boot = ?" + where,
            new.attempt,
            *new.owner,
            tenant,
            instance_id,
            ref.execution,
        )
        return replace(found[0], attempt=new.attempt, owner=new.owner)
