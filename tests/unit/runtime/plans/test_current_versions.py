"""Current versions and triggers: cached until the epoch of the store changes, and queried once by concurrent callers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from holdfast.model.catalog import DefinitionVersion, TriggerRow, Which
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.plans import current_versions as module
from holdfast.runtime.plans.current_versions import CurrentVersions
from holdfast.testing.store_rows import AT, content


class CountingStore(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.queries: Counter[str] = Counter()
        self.meanwhile: Any = None
        """Called during a query of a version or of triggers."""

    async def epoch(self) -> int:
        self.queries["epoch"] += 1
        return await super().epoch()

    async def find_version(
        self, tenant: str, definition_id: str, version: int | Which = Which.PUBLISHED
    ) -> DefinitionVersion | None:
        self.queries["version"] += 1
        found = await super().find_version(tenant, definition_id, version)
        if self.meanwhile is not None:
            self.meanwhile()
        await asyncio.sleep(0)
        return found

    async def find_triggers(self, tenant: str, keys: Sequence[int]) -> Sequence[TriggerRow]:
        self.queries["triggers"] += len(keys)
        found = await super().find_triggers(tenant, keys)
        if self.meanwhile is not None:
            self.meanwhile()
        return found


async def publish(store: MemoryStore, version: int = 1, *keys: int) -> None:
    kept = content("")
    label = DefinitionVersion(definition_id="order", version=version, content=kept.hash, published=True, created=AT)
    rows = [
        TriggerRow(definition_id="order", id=str(key), content=kept.hash, version=version, key=key, type="Event")
        for key in keys
    ]
    await store.save_version(label, kept, rows)


def number(label: DefinitionVersion | None) -> int | None:
    return None if label is None else label.version


async def test_a_version_is_queried_once_per_epoch() -> None:
    store = CountingStore()
    current = CurrentVersions(store, "")
    await publish(store)
    for _ in range(3):
        assert number(await current.version("order", Which.PUBLISHED)) == 1

    assert store.queries == {"epoch": 1, "version": 1}


async def test_a_missing_version_is_cached_too() -> None:
    store = CountingStore()
    current = CurrentVersions(store, "")
    for _ in range(3):
        assert await current.version("order", Which.PUBLISHED) is None

    assert store.queries["version"] == 1


async def test_a_new_epoch_clears_the_cache() -> None:
    store = CountingStore()
    current = CurrentVersions(store, "")
    await publish(store, 1)
    await current.version("order", Which.PUBLISHED)
    await publish(store, 2)
    current.saw(await store.epoch())

    assert number(await current.version("order", Which.PUBLISHED)) == 2


async def test_an_older_epoch_is_ignored() -> None:
    """Reads may overtake each other."""
    store = CountingStore()
    current = CurrentVersions(store, "")
    current.saw(7)
    current.saw(6)

    assert await current.refresh() == 7
    assert store.queries["epoch"] == 0


async def test_a_change_of_this_process_is_seen_at_once() -> None:
    store = CountingStore()
    current = CurrentVersions(store, "")
    await publish(store, 1)
    await current.version("order", Which.PUBLISHED)
    await publish(store, 2)
    assert number(await current.version("order", Which.PUBLISHED)) == 1

    current.changed()
    assert number(await current.version("order", Which.PUBLISHED)) == 2


async def test_concurrent_callers_share_one_query() -> None:
    store = CountingStore()
    current = CurrentVersions(store, "")
    await publish(store)
    found = await asyncio.gather(*(current.version("order", Which.PUBLISHED) for _ in range(50)))

    assert [number(label) for label in found] == [1] * 50
    assert store.queries == {"epoch": 1, "version": 1}


async def test_a_caller_that_is_canceled_does_not_cancel_the_query_of_the_others() -> None:
    store = CountingStore()
    current = CurrentVersions(store, "")
    await publish(store)
    first, second = (asyncio.create_task(current.version("order", Which.PUBLISHED)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()

    assert number(await second) == 1


async def test_an_answer_of_an_older_epoch_is_not_cached() -> None:
    store = CountingStore()
    current = CurrentVersions(store, "")
    await publish(store)
    store.meanwhile = lambda: current.saw(99)
    assert number(await current.version("order", Which.PUBLISHED)) == 1

    store.meanwhile = None
    await current.version("order", Which.PUBLISHED)
    assert store.queries["version"] == 2


async def test_only_unknown_keys_of_triggers_are_queried() -> None:
    store = CountingStore()
    current = CurrentVersions(store, "")
    await publish(store, 1, 10, 20)

    assert [row.key for row in await current.triggers([10, 30])] == [10]
    assert [row.key for row in await current.triggers([10, 20, 30])] == [10, 20]
    assert store.queries["triggers"] == 3


async def test_a_new_epoch_during_a_query_does_not_lose_triggers_that_were_known() -> None:
    """The stimulus would start nothing."""
    store = CountingStore()
    current = CurrentVersions(store, "")
    await publish(store, 1, 10, 20)
    await current.triggers([10])
    store.meanwhile = lambda: current.saw(99)

    assert [row.key for row in await current.triggers([10, 20])] == [10, 20]


async def test_the_caches_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CACHED_MAX", 2)
    store = CountingStore()
    current = CurrentVersions(store, "")
    for name in ("a", "b", "c", "a"):
        await current.version(name, Which.PUBLISHED)
    for key in (1, 2, 3, 1):
        await current.triggers([key])

    assert (store.queries["version"], store.queries["triggers"]) == (4, 4)
