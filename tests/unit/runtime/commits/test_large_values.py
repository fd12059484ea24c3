"""States with large parts: packed into a small document and values, and back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidState
from holdfast.execution.lazy_values import LazyValue
from holdfast.execution.state import ActivationState, BookmarkState, ScopeState, State
from holdfast.model.instance import Status
from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.large_values import SPLIT, ValueCache, pack_state, refers_to, unpack_state

SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=20)
LARGE_TEXTS = st.sampled_from([130, 300, 380, 500, 1_000]).map(lambda times: "long text " * times)
"""Some are large, some only together."""
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


def _parts(state: State) -> list[Any]:
    data = state.activations[0].data
    return [*state.scopes[0].values.values(), *(data if isinstance(data, list) else ())]


def _awake(state: State) -> State:
    """With everything read that came back as it is stored."""

    def read(item: Any) -> Any:
        return item.data() if isinstance(item, LazyValue) else item

    data = state.activations[0].data
    return _state(
        {name: read(item) for name, item in state.scopes[0].values.items()},
        [read(item) for item in data] if isinstance(data, list) else data,
    )


@given(st.dictionaries(st.text(max_size=8), PARTS, max_size=6), PARTS)
def test_what_is_packed_comes_back(variables: dict[str, Any], data: Any) -> None:
    state = _state(variables, data)
    packed = pack_state(state)
    found = unpack_state(packed.state, packed.values)
    lazy = [item for item in _parts(found) if isinstance(item, LazyValue)]

    assert _awake(found) == state
    assert bool(lazy) <= bool(packed.values)
    assert set(refers_to(packed.state)) == set(packed.values)


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
    assert len(one.values) == 2
    assert len(one.state) < 300  # what every state has, and references to a run and to the end of the list, twice
    assert one.state != two.state


def test_a_list_that_grows_is_written_at_its_end() -> None:
    items = [f"item {number}" for number in range(2_000)]
    one, two = pack_state(_state({"items": items})), pack_state(_state({"items": [*items, "one more"]}))

    assert len(one.values.keys() & two.values.keys()) == 1
    assert len(two.values) == 2
    assert _awake(unpack_state(two.state, two.values)).scopes[0].values == {"items": [*items, "one more"]}


def test_what_nobody_read_is_written_as_it_came() -> None:
    items = [f"item {number}" for number in range(2_000)]
    one = pack_state(_state({"in:items": items, "small": 1}, [1, items]))
    found = unpack_state(one.state, one.values)
    lazy = [item for item in _parts(found) if isinstance(item, LazyValue)]
    arrays = (
        "i",
        [("workflow", None, None, found.scopes[0].values)],
        [(1, "workflow", 0, None, None, 0, 0, 1, None, [2, found.activations[0].data[1]])],
        "suspended",
    )
    two = pack_state(arrays, lazy)

    assert len(lazy) == 2
    assert two.values == one.values
    assert _awake(unpack_state(two.state, two.values)) == _state({"in:items": items, "small": 1}, [2, items])


@pytest.mark.parametrize("count", [2, 20])
def test_variables_that_are_large_only_together_come_back(count: int) -> None:
    state = _state({f"v{number}": "text " * (6_000 // count // 5) for number in range(count)})
    packed = pack_state(state)

    assert unpack_state(packed.state, packed.values) == state


def test_scopes_and_activations_that_are_large_only_together_come_back() -> None:
    state = _state({})
    state.scopes = [ScopeState("workflow", values={"text": f"{number} " * 500}) for number in range(9)]
    state.activations = [ActivationState(n, "workflow", 0, data=["text " * 99, [n]]) for n in range(1, 15)]
    packed = pack_state(state)

    assert packed.values
    assert unpack_state(packed.state, packed.values) == state


def test_a_part_that_holds_what_another_holds_too_refers_to_it() -> None:
    large = "long text " * 500
    state = _state({"one": large, "two": [large, "text " * 700, "more " * 700]})
    packed = pack_state(state)

    assert _awake(unpack_state(packed.state, packed.values)) == state


def test_what_rests_stays_so_among_many_other_variables() -> None:
    one = pack_state(_state({"text": "long text " * 500}))
    found = unpack_state(one.state, one.values).scopes[0].values
    more = {f"v{number}": number for number in range(20)}
    two = pack_state(("i", [("workflow", None, None, {**found, **more})], [], "suspended"), list(found.values()))
    kept = unpack_state(two.state, two.values).scopes[0].values

    assert two.values == one.values
    assert isinstance(kept["text"], LazyValue)
    assert {**kept, "text": kept["text"].data()} == {"text": "long text " * 500, **more}


def test_the_cache_lets_the_oldest_go() -> None:
    cache, key = ValueCache(bytes_max=250), InstanceKey("", "i")
    for name in ("a", "b", "c"):
        cache.put(key, name, b"x" * 100)
        cache.get(key, "a")

    assert cache.get(key, "a") is not None
    assert cache.get(key, "b") is None
    assert cache.get(key, "c") is not None
