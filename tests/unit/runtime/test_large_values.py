"""States with large parts: packed into a small document and values, and back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidState
from holdfast.execution.state import ActivationState, BookmarkState, ScopeState, State
from holdfast.model.instance import Status
from holdfast.runtime.durable.large_values import LARGE, SPLIT, ValueCache, pack_state, refers_to, unpack_state

SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=20)
LARGE_TEXTS = st.integers(1, 3).map(lambda times: "long text " * 500 * times)
PARTS = st.recursive(
    SCALARS | LARGE_TEXTS,
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=30,
)

DUE = datetime(2031, 2, 3, 4, 5, 6, 789000, tzinfo=UTC)


def _state(variables: dict[str, Any], data: Any = None) -> State:
    return State(
        id="i",
        status=Status.SUSPENDED,
        scopes=[ScopeState("workflow", values=variables)],
        activations=[ActivationState(1, "workflow", 0, data=data)],
    )


@given(st.dictionaries(st.text(max_size=8), PARTS, max_size=6), PARTS)
def test_what_is_packed_comes_back(variables: dict[str, Any], data: Any) -> None:
    state = _state(variables, data)
    packed = pack_state(state)

    assert unpack_state(packed.state, packed.values) == state
    assert set(refers_to(packed.state)) == set(packed.values)
    assert all(len(value) > LARGE for value in packed.values.values())


def test_a_small_state_is_one_document() -> None:
    packed = pack_state(_state({"a": [1, 2, {"b": "c"}]}))

    assert packed.values == {}
    identity, scopes, activations, status, *_ = msgspec.msgpack.decode(packed.state)
    assert identity == "i"
    assert scopes == [["workflow", None, None, {"a": [1, 2, {"b": "c"}]}]]
    assert activations == [[1, "workflow", 0, None, None, 0, 0, 1, None, None]]
    assert status == "suspended"


NAMED: dict[str, Any] = {
    "id": "i",
    "status": "suspended",
    "sequence": 2,
    "scopes": [{"shape": "workflow", "values": {"a": 1}}],
    "activations": [
        {"id": 1, "node": "workflow", "outer": 0},
        {"id": 2, "node": "d", "outer": 0, "owner": 1, "bookmarks": ["b1"]},
    ],
    "bookmarks": [{"id": "b1", "name": "Delay", "activity_id": "d", "execution_id": 2, "hash": "0aff", "due": DUE}],
}
"""As states were stored before they became arrays."""


@pytest.mark.parametrize("split", [False, True])
def test_a_state_with_names_is_read_as_before(*, split: bool) -> None:
    data = msgspec.msgpack.encode([NAMED, []] if split else NAMED)
    mark = BookmarkState("b1", "Delay", "d", 2, b"\x0a\xff", due=DUE)

    assert unpack_state(data, {}) == State(
        "i",
        [ScopeState("workflow", values={"a": 1})],
        [ActivationState(1, "workflow", 0), ActivationState(2, "d", 0, owner=1, bookmarks=["b1"])],
        Status.SUSPENDED,
        sequence=2,
        bookmarks=[mark],
    )


@pytest.mark.parametrize("data", [b"", b"\xc1", msgspec.msgpack.encode({"id": "i"}), msgspec.msgpack.encode(([], []))])
def test_bytes_that_are_no_state_are_named_so(data: bytes) -> None:
    with pytest.raises(InvalidState, match="damaged"):
        unpack_state(data, {})


def test_a_bookmark_keeps_its_moment_in_a_state_that_is_split() -> None:
    state = _state({"text": "long text " * 500})
    state.bookmarks = [BookmarkState("b1", "Delay", "d", 2, b"", due=DUE)]
    packed = pack_state(state)

    assert packed.values
    assert unpack_state(packed.state, packed.values).bookmarks[0].due == DUE


def test_what_did_not_change_keeps_its_reference() -> None:
    items = [f"item {number}" for number in range(2_000)]
    one = pack_state(_state({"in:items": items}, [1, items]))
    two = pack_state(_state({"in:items": items}, [2, items]))

    assert one.state[0] == SPLIT
    assert one.values == two.values
    assert len(one.values) == 1
    assert len(one.state) < 250  # what every state has, and three references
    assert one.state != two.state


def test_the_cache_lets_the_oldest_go() -> None:
    cache = ValueCache(bytes_max=250)
    for name in ("a", "b", "c"):
        cache.put("i", name, b"x" * 100)
        cache.get("i", "a")

    assert cache.get("i", "a") is not None
    assert cache.get("i", "b") is None
    assert cache.get("i", "c") is not None
