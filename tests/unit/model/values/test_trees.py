"""A value that is taken for JSON as a whole is what `encode` would write, item by item."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from holdfast.model.values import TypeRegistry, encode, tree_of
from holdfast.model.values.check import MAX_DEPTH


class Word(StrEnum):
    YES = "yes"


class Level(IntEnum):
    LOW = 1


TYPES = TypeRegistry([Word, Level])
KEYS = st.sampled_from(["yes", "no", "", "$", "$t", "a$t", "\ud800", "ä", 1, None, True, (1,), Word.YES, Level.LOW])
NUMBERS: list[Any] = [0, -1, 1 << 63, 1 << 64, -(1 << 63), -(1 << 63) - 1, 1.5, -0.0, float("nan"), float("inf"), True]
OTHERS: list[Any] = [b"", b"x", Decimal("1.50"), datetime(2031, 1, 2, tzinfo=UTC), Word.YES, Level.LOW, (), (1,), {1}]
LEAVES = st.sampled_from([*NUMBERS, None, "", "ä", "\ud800", *OTHERS])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=12
)


@given(st.lists(VALUES, max_size=5) | st.dictionaries(KEYS, VALUES, max_size=3))
def test_what_is_taken_for_json_is_json(value: Any) -> None:
    tree = tree_of(value)
    if tree is None or not tree.is_json:
        return
    try:
        packed = msgspec.msgpack.encode(value)
    except (OverflowError, UnicodeEncodeError):
        return  # As it says: whoever packs it is ready for that.

    read = msgspec.msgpack.decode(packed)
    assert repr(read) == repr(value)
    assert read == encode(value, TYPES) or (1 << 63) in _ints(value)


def _ints(value: Any) -> list[int]:
    """With 64 bits and no sign an int can be packed, though `encode` writes it with a tag."""
    if isinstance(value, list | dict):
        return [found for item in (value.values() if isinstance(value, dict) else value) for found in _ints(item)]
    return [value] if isinstance(value, int) else []


@pytest.mark.parametrize("key", [Word.YES, "$t", "$", 1, None])
def test_keys_are_looked_at_one_by_one(key: Any) -> None:
    assert tree_of([{"yes": 1}, {key: 2}]) is None


@pytest.mark.parametrize("item", [Word.YES, Level.LOW, (), {1}])
def test_items_of_other_classes_are_no_json(item: Any) -> None:
    assert tree_of(["yes", 1, [item]]) is None


def test_a_list_at_two_places_is_no_tree() -> None:
    shared: list[int] = []

    assert tree_of([shared, {"a": shared}]) is None
    assert tree_of([[], {"a": []}]) is not None


@pytest.mark.parametrize(("depth", "fits"), [(MAX_DEPTH, True), (MAX_DEPTH + 1, False)])
def test_it_is_as_deep_as_values_may_be(depth: int, *, fits: bool) -> None:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]

    assert (tree_of(value) is not None) is fits
