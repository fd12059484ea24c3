"""The cancel watch: effects whose row is gone are canceled, and stores are queried only for instances that changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from holdfast.model.stored import InstanceKey
from holdfast.model.work import EffectRow, Owner
from holdfast.runtime.effects import cancel_watch
from holdfast.runtime.effects.cancel_watch import CancelWatch
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.testing.store_rows import effect

ME = Owner("n", 0)
A, B = InstanceKey("acme", "i"), InstanceKey("globex", "i")


class FakeStore:
    def __init__(self) -> None:
        self.versions: dict[InstanceKey, int] = {}
        self.rows: list[EffectRow] = []
        self.queries: list[str] = []

    async def versions_of(self, keys: Iterable[InstanceKey]) -> dict[InstanceKey, int]:
        return {key: self.versions[key] for key in keys if key in self.versions}

    async def effects_of(self, tenant: str, instance_id: str) -> list[EffectRow]:
        self.queries.append(tenant)
        return [row for row in self.rows if (row.tenant, row.instance_id) == (tenant, instance_id)]

    async def effects_owned(self, owner: Owner) -> list[EffectRow]:
        self.queries.append("all")
        return [row for row in self.rows if row.owner == owner]


class FakeRunning:
    def __init__(self, *keys: InstanceKey) -> None:
        self.now = {(key, 1): 1 for key in keys}
        self.canceled: set[Any] = set()

    def attempts(self) -> dict[Any, int]:
        return dict(self.now)

    def cancel_lost(self, checked: dict[Any, int], owned: Iterable[EffectRow]) -> None:
        here = {(InstanceKey(row.tenant, row.instance_id), row.execution) for row in owned}
        self.canceled |= set(checked) - here


def watch_of(store: Any, running: Any) -> CancelWatch:
    return CancelWatch(store, Membership("n"), running, OutageLog("n"))


def stored(store: FakeStore, *keys: InstanceKey, owner: Owner = ME) -> None:
    store.rows = [effect(key.tenant, key.id, owner=owner) for key in keys]
    store.versions |= dict.fromkeys(keys, 1)


async def test_an_effect_whose_row_is_gone_is_canceled() -> None:
    store, running = FakeStore(), FakeRunning(A, B)
    stored(store, A, B)
    watch = watch_of(store, running)
    await watch.check()
    assert store.queries == []  # Effects that have just begun may end before the next check.
    await watch.check()
    assert running.canceled == set()

    store.rows, store.versions[A] = [row for row in store.rows if row.tenant != "acme"], 2
    await watch.check()

    assert running.canceled == {(A, 1)}


async def test_instances_that_did_not_change_are_not_queried() -> None:
    store, running = FakeStore(), FakeRunning(A, B)
    stored(store, A, B)
    watch = watch_of(store, running)
    for _ in range(2):
        await watch.check()
    store.queries.clear()

    await watch.check()
    assert store.queries == []
    store.versions[B] = 2
    await watch.check()
    assert store.queries == ["globex"]


async def test_an_effect_that_another_node_took_over_is_canceled() -> None:
    store, running = FakeStore(), FakeRunning(A)
    stored(store, A, owner=Owner("other", 1))
    watch = watch_of(store, running)
    for _ in range(2):
        await watch.check()

    assert running.canceled == {(A, 1)}


async def test_many_changed_instances_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancel_watch, "SINGLE_QUERIES_MAX", 1)
    store, running = FakeStore(), FakeRunning(A, B)
    stored(store, B)
    watch = watch_of(store, running)
    for _ in range(2):
        await watch.check()

    assert store.queries == ["all"]
    assert running.canceled == {(A, 1)}
