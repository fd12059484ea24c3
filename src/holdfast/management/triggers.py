"""Triggers of published definitions, for people and tools."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from holdfast.management.payloads import read_payload
from holdfast.model.catalog import TriggerRow
from holdfast.ports import Store
from holdfast.runtime.plans.triggers import AWAITED


class Trigger(Struct, frozen=True, kw_only=True):
    """A stimulus that starts instances of a definition."""

    definition_id: str
    version: int
    activity_id: str
    type: str
    payload: Any


class Triggers:
    def __init__(self, store: Store, tenant: str) -> None:
        self._store = store
        self._tenant = tenant

    async def list(self, definition_id: str | None = None) -> list[Trigger]:
        rows = await self._store.list_triggers(self._tenant, definition_id)
        return [_trigger(row) for row in rows if row.type != AWAITED]


def _trigger(row: TriggerRow) -> Trigger:
    return Trigger(
        definition_id=row.definition_id,
        version=row.version,
        activity_id=row.activity_id,
        type=row.type,
        payload=read_payload(row.payload),
    )
