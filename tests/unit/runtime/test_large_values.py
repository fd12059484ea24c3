"""States with large parts: packed into a small document and values, and back."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, strategies as st

from holdfast.runtime.durable.large_values import LARGE, SPLIT, ValueCache, pack_state, refers_to, unpack_state

SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=20)
LARGE_TEXTS = st.integers(1, 3).map(lambda times: "long text " * 500 * times)
PARTS = st.recursive(
    SCALARS | LARGE_TEXTS,
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=30,
)


@given(st.dictionaries(st.text(max_size=8), PARTS, max_size=6))
def test_what_is_packed_comes_back(document: dict[str, Any]) -> None:
    packed = pack_state(document)

    assert unpack_state(packed.state, packed.values) == document
    assert set(refers_to(packed.state)) == set(packed.values)
    assert all(len(value) > LARGE for value in packed.values.values())


def test_a_small_state_is_one_document() -> None:
    packed = pack_state({"a": [1, 2, {"b": "c"}]})

    assert packed.values == {}
    assert msgspec.msgpack.decode(packed.state) == {"a": [1, 2, {"b": "c"}]}


def test_what_did_not_change_keeps_its_reference() -> None:
    items = [f"item {number}" for number in range(2_000)]
    one = pack_state({"activations": [{"id": 2, "data": [1, items]}], "scopes": [{"values": {"in:items": items}}]})
    two = pack_state({"activations": [{"id": 2, "data": [2, items]}], "scopes": [{"values": {"in:items": items}}]})

    assert one.state[0] == SPLIT
    assert one.values == two.values
    assert len(one.values) == 1
    assert len(one.state) < 200
    assert one.state != two.state


def test_the_cache_lets_the_oldest_go() -> None:
    cache = ValueCache(bytes_max=250)
    for name in ("a", "b", "c"):
        cache.put("i", name, b"x" * 100)
        cache.get("i", "a")

    assert cache.get("i", "a") is not None
    assert cache.get("i", "b") is None
    assert cache.get("i", "c") is not None
