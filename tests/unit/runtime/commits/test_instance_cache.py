"""The cache of instance rows: rows at rest leave it, older reads do not replace newer commits, large values are read once."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import InstanceNotFound
from holdfast.execution.state import ScopeState, State
from holdfast.model.instance import Status
from holdfast.model.stored import InstanceKey, InstanceRow, ValueRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.commits import instance_cache as module
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.large_values import StateMoved, pack_state
from holdfast.testing.store_rows import AT, commit_of, instance

I = InstanceKey("", "i")
LARGE = State(
    id="i",
    status=Status.SUSPENDED,
    scopes=[ScopeState("workflow", values={"text": "long text " * 500})],
    activations=[],
)


class CountingStore(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Any] = []

    async def load_values(self, tenant: str, instance_id: str, refs: Any) -> Any:
        self.asked.append(sorted(refs))
        return await super().load_values(tenant, instance_id, refs)


async def stored_large(store: MemoryStore) -> InstanceRow:
    packed = pack_state(LARGE)
    row = instance("i", state=packed.state)
    values = tuple(ValueRow(instance_id="i", ref=ref, data=data) for ref, data in packed.values.items())
    await store.commit([commit_of(row, values_added=values)])
    return row


def test_a_committed_row_replaces_the_cached_one() -> None:
    cache = InstanceCache(MemoryStore())
    cache.keep(I, instance("i", 2))
    cache.keep(I, instance("i", 1))

    assert cache.get(I).version == 1  # type: ignore[union-attr]


def test_a_row_at_rest_leaves_the_cache() -> None:
    cache = InstanceCache(MemoryStore())
    cache.keep(I, instance("i", 1))
    cache.keep(I, instance("i", 2, status="finished", finished=AT))

    assert cache.get(I) is None


@pytest.mark.parametrize(("read", "kept"), [(1, 2), (2, 2), (3, 3)])
def test_a_row_that_was_read_replaces_only_an_older_one(read: int, kept: int) -> None:
    cache = InstanceCache(MemoryStore())
    cache.keep(I, instance("i", 2))
    cache.keep_read(I, instance("i", read))

    assert cache.get(I).version == kept  # type: ignore[union-attr]


def test_the_row_that_was_committed_longest_ago_leaves_a_full_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS_MAX", 2)
    cache, keys = InstanceCache(MemoryStore()), [InstanceKey("", name) for name in "abc"]
    for key in (keys[0], keys[1], keys[0], keys[2]):
        cache.keep(key, instance(key.id))

    assert [cache.get(key) is not None for key in keys] == [True, False, True]


async def test_a_read_never_comes_from_the_cache() -> None:
    store = MemoryStore()
    cache = InstanceCache(store)
    cache.keep(I, instance("i", 7))
    with pytest.raises(InstanceNotFound):
        await cache.row(I)

    await store.commit([commit_of(instance("i"))])
    assert (await cache.row(I)).version == 1


async def test_large_values_are_read_once() -> None:
    store = CountingStore()
    cache, row = InstanceCache(store), await stored_large(store)

    assert await cache.values_of(I, row) == await cache.values_of(I, row) == pack_state(LARGE).values
    assert store.asked == [sorted(pack_state(LARGE).values)]


async def test_values_of_a_commit_are_not_queried() -> None:
    store = CountingStore()
    cache, packed = InstanceCache(store), pack_state(LARGE)
    cache.keep_values([ValueRow(instance_id="i", ref=ref, data=data) for ref, data in packed.values.items()])

    assert await cache.values_of(I, instance("i", state=packed.state)) == packed.values
    assert store.asked == []


async def test_a_state_without_large_values_queries_nothing() -> None:
    store = CountingStore()
    state = pack_state(State(id="i", status=Status.SUSPENDED, scopes=[], activations=[])).state

    assert await InstanceCache(store).values_of(I, instance("i", state=state)) == {}
    assert store.asked == []


async def test_values_that_another_commit_dropped_mean_that_the_state_moved() -> None:
    row = instance("i", state=pack_state(LARGE).state)

    with pytest.raises(StateMoved):
        await InstanceCache(MemoryStore()).values_of(I, row)


async def test_row_and_values_are_of_the_same_version() -> None:
    """Between the two reads another node commits a state without large values."""
    small = pack_state(State(id="i", status=Status.SUSPENDED, scopes=[], activations=[])).state

    class OvertakenStore(MemoryStore):
        async def load_values(self, tenant: str, instance_id: str, refs: Any) -> Any:
            await self.commit([commit_of(instance("i", 2, state=small), values_dropped=tuple(refs))])
            return await super().load_values(tenant, instance_id, refs)

    store = OvertakenStore()
    await stored_large(store)
    row, values = await InstanceCache(store).state(I)

    assert (row.version, values) == (2, {})


async def test_values_that_are_missing_for_good_are_an_error() -> None:
    store = MemoryStore()
    await store.commit([commit_of(instance("i", state=pack_state(LARGE).state))])

    with pytest.raises(StateMoved):
        await InstanceCache(store).state(I)
