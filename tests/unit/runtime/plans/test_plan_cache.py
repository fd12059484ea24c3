"""Plans by content: content is stored once, labels do not move, and content without its code is named."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from holdfast import Holdfast, Workflow
from holdfast.activities import Event, Sequence, WriteLine
from holdfast.errors import DefinitionError, InvalidDefinition
from holdfast.model.catalog import DefinitionContent, DefinitionVersion, Origin, Which, content_hash
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.plans import plan_cache as module
from holdfast.runtime.plans.catalog import nodes_of
from holdfast.runtime.plans.plan_cache import PlanCache
from holdfast.testing.store_rows import AT

ENGINE = Holdfast(entry_points=False)


class CountingStore(MemoryStore):
    saves = 0

    async def save_version(self, *args: Any, **more: Any) -> Any:
        self.saves += 1
        return await super().save_version(*args, **more)


def plan(text: str = "a", version: int = 1) -> Any:
    return ENGINE.plan(Workflow(Sequence(WriteLine(text), Event("paid")), id="order", version=version))


def cache_on(store: MemoryStore, lacking: set[str] | None = None) -> PlanCache:
    return PlanCache(store, "", ENGINE.plan, ENGINE.clock.now, set() if lacking is None else lacking)


async def versions(store: MemoryStore) -> list[tuple[int, bool]]:
    rows = store._tables.versions.values()
    return [(row.version, row.published) for row in rows]


async def test_content_is_stored_once_even_by_concurrent_starts() -> None:
    store, order = CountingStore(), plan()
    cache = cache_on(store)
    assert cache.known(order) is None
    found = await asyncio.gather(*(cache.pin(order) for _ in range(20)))

    assert len(set(found)) == 1
    assert (store.saves, cache.known(order), cache.at_hand(found[0])) == (1, found[0], order)


async def test_content_that_another_process_stored_is_not_stored_again() -> None:
    store, order = CountingStore(), plan()
    content = await cache_on(store).pin(order)

    assert await cache_on(store).pin(order) == content
    assert store.saves == 1


async def test_the_first_version_is_published_and_later_ones_are_not() -> None:
    store = CountingStore()
    cache = cache_on(store)
    await cache.pin(plan("a", 1))
    await cache.pin(plan("b", 2))

    assert await versions(store) == [(1, True), (2, False)]


async def test_changed_content_with_a_used_number_gets_the_next_number() -> None:
    store = CountingStore()
    cache = cache_on(store)
    await cache.pin(plan("a", 1))
    await cache.pin(plan("b", 5))
    content = await cache.pin(plan("c", 1))

    assert [number for number, _ in await versions(store)] == [1, 5, 6]
    assert cache.numbers[content] == 6


async def test_a_plan_is_compiled_from_its_stored_content() -> None:
    store = CountingStore()
    content = await cache_on(store).pin(plan("a", 3))
    other = cache_on(store)
    assert other.at_hand(content) is None
    found = await other.plan(content)

    assert (found.definition.id, other.numbers[content]) == ("order", 3)
    assert await other.plan(content) is found


async def test_content_that_is_not_stored_names_the_remedy() -> None:
    with pytest.raises(DefinitionError, match="c0ffee is not in the store"):
        await cache_on(MemoryStore()).plan("c0ffee")


async def test_content_that_this_process_cannot_run_is_remembered() -> None:
    store, lacking = MemoryStore(), set[str]()
    document = b'{"id": "order", "root": {"id": "r", "type": "Teleport"}}'
    kept = DefinitionContent(hash=content_hash(document), origin=Origin.DOCUMENT, created=AT, document=document)
    label = DefinitionVersion(definition_id="order", version=1, content=kept.hash, created=AT)
    await store.save_version(label, kept, ())

    with pytest.raises(InvalidDefinition, match="Teleport"):
        await cache_on(store, lacking).plan(kept.hash)
    assert lacking == {kept.hash}


async def test_the_plan_that_was_learned_longest_ago_leaves_a_full_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = cache_on(MemoryStore())
    plans = [plan(text) for text in "abc"]
    monkeypatch.setattr(module, "PLAN_NODES_MAX", 2 * nodes_of(plans[0]))
    contents = [await cache.pin(item) for item in plans]

    assert [cache.at_hand(content) is not None for content in contents] == [False, True, True]
    assert [cache.known(item) is not None for item in plans] == [False, True, True]


async def test_a_definition_is_found_by_id_and_version() -> None:
    store = MemoryStore()
    cache = cache_on(store)
    await cache.pin(plan("a", 1))
    await cache.pin(plan("b", 2))

    published, second = await cache.find("order"), await cache.find("order", 2)
    assert published is not None
    assert second is not None
    assert (published.version, second.version) == (1, 2)
    assert await cache.find("order", 3) is None
    assert await cache.find("refund") is None
    label = await cache.find_version("order", Which.LATEST)
    assert label is not None
    assert label.version == 2
