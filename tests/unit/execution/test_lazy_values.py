"""Large values of a stored state: read when somebody asks, written as they came if nobody did."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from holdfast.execution.lazy_values import (
    LazyScope,
    LazyValue,
    PagedItems,
    joined,
    lazy_part,
    loop_items,
    reference,
    references,
)
from holdfast.execution.pages import PAGE, pack_pages, runs_of, unpack_value
from holdfast.model import values
from holdfast.model.scope import Shape
from holdfast.model.values import TypeRegistry

TYPES = TypeRegistry()
LEAST = 300


def lazy(value: list[Any]) -> LazyValue:
    """As a state refers to it: some runs, and what is behind them."""
    runs, rest = runs_of(values.encode(value, TYPES), LEAST)
    stored = {f"{number:032x}": run for number, run in enumerate(runs)}
    found = lazy_part(references(stored, rest), {**stored, "another": b""})
    assert isinstance(found, LazyValue)
    return found


def whole(value: Any) -> LazyValue:
    """Of one value, without pages."""
    found = lazy_part(reference("r"), {"r": msgspec.msgpack.encode(values.encode(value, TYPES))})
    assert isinstance(found, LazyValue)
    return found


@pytest.mark.parametrize("count", [0, 1, PAGE, PAGE + 1, 7 * PAGE + 3, 1_000])
def test_a_list_comes_back_from_its_runs(count: int) -> None:
    items = [{"n": number} for number in range(count)]
    runs, rest = runs_of(items, LEAST)

    assert [item for run in runs for item in unpack_value(run)] + rest == items
    assert unpack_value(pack_pages(items)) == items


@given(st.integers(1, 2_000), st.integers(1, 300), st.integers(0, 40))
def test_a_list_that_grows_leaves_its_first_runs_alone(count: int, more: int, width: int) -> None:
    items = ["x" * width] * (count + more)
    before, _ = runs_of(items[:count], LEAST)
    after, _ = runs_of(items, LEAST)
    kept = next((place for place, (one, two) in enumerate(zip(before, after, strict=False)) if one != two), len(before))
    larger = after[kept] if kept < len(before) else b""

    assert all(len(run) <= len(larger) for run in before[kept:])


def test_a_list_that_grows_by_one_is_written_a_few_times_in_all() -> None:
    items = [f"item {number:06}" for number in range(4_000)]
    known: set[bytes] = set()
    for count in range(1, len(items) + 1):
        known.update(runs_of(items[:count], LEAST)[0])

    assert sum(map(len, known)) < 8 * len(pack_pages(items))


@pytest.mark.parametrize("count", [PAGE + 1, 2 * PAGE, 2 * PAGE + 5])
def test_a_loop_reads_the_page_that_it_is_at(count: int) -> None:
    prices = [{"n": number, "price": Decimal(number)} for number in range(count)]
    items = loop_items(lazy(prices), TYPES)

    assert isinstance(items, PagedItems)
    assert len(items) == count
    assert [items[place] for place in range(count)] == prices
    assert items[0] == prices[0]


@pytest.mark.parametrize("value", [["x" * 5_000], [Decimal(1)], ["ä" * 5_000] * PAGE])
def test_a_list_without_pages_is_read_as_a_list(value: list[Any]) -> None:
    assert loop_items(whole(value), TYPES) == value


def test_what_refers_to_nothing_stays_as_it_is() -> None:
    part = {"a": [1, 2]}

    assert lazy_part(part, {}) is part


def test_a_part_with_a_reference_inside_rests_whole() -> None:
    part = {"name": "x", "lines": reference("r")}
    found = lazy_part(part, {"r": msgspec.msgpack.encode([1, 2, 3])})

    assert isinstance(found, LazyValue)
    assert found.data() == {"name": "x", "lines": [1, 2, 3]}
    assert joined([part], found.stored) == [{"name": "x", "lines": [1, 2, 3]}]


def test_a_scope_wakes_what_is_read_and_nothing_else() -> None:
    sleeper, other = lazy([Decimal("1.5")] * 100), whole(["x"])
    scope = LazyScope([None, None, sleeper, other, 7], TYPES)
    read = scope[2]

    assert read == [Decimal("1.5")] * 100
    assert scope[2] is read
    assert scope[4] == 7
    assert list.copy(scope)[3] is other


def test_a_shape_wakes_nothing_when_it_gives_defaults() -> None:
    shape = Shape("s")
    for name in ("a", "b"):
        shape.add(shape.names, name, "list", [])
    sleeper = whole([1])
    scope = LazyScope([None, shape, sleeper, shape.defaults[1]], TYPES)
    shape.own(scope)

    assert list.copy(scope)[2] is sleeper
    assert scope[3] == []
    assert scope[3] is not shape.defaults[1]
