"""The memory store fulfils the store contract, as its reference implementation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from holdfast.model.stored import InstanceKey
from holdfast.persistence.memory import MemoryStore
from holdfast.ports import Store
from holdfast.testing.store_contract import StoreContract

NOT_OF_AN_INSTANCE = {"contents", "versions", "deployments", "triggers", "schedules", "nodes", "outbox_held"}


class TestMemoryStore(StoreContract):
    @pytest.fixture
    async def store(self) -> Store:
        store = MemoryStore()
        await store.open()
        return store

    async def rows_left(self, store: Store, tenant: str, instance_id: str) -> Mapping[str, int]:
        assert isinstance(store, MemoryStore)
        key = InstanceKey(tenant, instance_id)
        return {
            name: sum(_belongs(place, row, key) for place, row in table.items())
            for name, table in vars(store._tables).items()
            if isinstance(table, dict) and name not in NOT_OF_AN_INSTANCE
        }


def _belongs(place: Any, row: Any, key: InstanceKey) -> bool:
    if isinstance(row, dict):
        return bool(row) and (place == key or (place[0] == key.tenant and any(key.id in str(inner) for inner in row)))
    if getattr(row, "released", None) is not None:
        return False
    row = getattr(row, "work", row)
    return bool(row.tenant == key.tenant and getattr(row, "instance_id", getattr(row, "id", None)) == key.id)
