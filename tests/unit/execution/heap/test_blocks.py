"""Large lists among the variables of a function: written apart, without marks, with every object still one object."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from holdfast.execution.heap import object_writer, read_heap, write_heap
from holdfast.model.values import TypeRegistry, trees


class Colour(Enum):
    RED = 1


@dataclass
class Order:
    number: int
    lines: list[Any] = field(default_factory=list)
    of: Any = None


def types() -> TypeRegistry:
    return TypeRegistry([Order, Colour])


def carried(frame: dict[str, Any], *, trusting: bool = True) -> tuple[dict[str, Any], dict[str, Any]]:
    """The variables after they were stored, and what was stored."""
    written = write_heap([frame], types(), {}, trusting=trusting)
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(written))
    ((found, lost),) = read_heap(stored, types(), {})
    assert not lost
    return found, stored


def who_is_who(value: Any) -> Any:
    """The value with a number for each object: equal for two values of the same make."""
    numbers: dict[int, int] = {}
    alive: list[Any] = []

    def seen(item: Any) -> Any:
        if not isinstance(item, list | dict | Order):
            return repr(item)
        if id(item) in numbers:
            return numbers[id(item)]
        numbers[id(item)] = len(numbers)
        alive.append(item)
        parts = item if isinstance(item, list) else list((item if isinstance(item, dict) else vars(item)).items())
        return [
            type(item).__name__,
            *(seen(part) if isinstance(item, list) else [part[0], seen(part[1])] for part in parts),
        ]

    return seen(value)


def records(count: int) -> list[Any]:
    return [{"id": number, "lines": [number], "total": 1.5} for number in range(count)]


def orders(count: int) -> list[Any]:
    return [Order(number, [Colour.RED, datetime(2026, 1, 1, tzinfo=UTC)]) for number in range(count)]


@pytest.mark.parametrize(
    "make", [records, orders, lambda count: [{"price": Decimal(number)} for number in range(count)]]
)
def test_a_loop_leaves_its_list_as_it_was(make: Callable[[int], list[Any]]) -> None:
    many = make(200)
    steps = [{"orders": many, "it": iter(many), "order": many[step]} for step in (3, 150)]
    (first, stored), (second, later) = map(carried, steps)

    assert stored["blocks"] == later["blocks"]
    assert len(msgspec.msgpack.encode(stored["frames"])) < 200
    assert first["order"] is first["orders"][3]
    assert second["order"] is second["orders"][150]
    assert next(second["it"]) is second["orders"][0]
    assert who_is_who(second["orders"]) == who_is_who(many)


def test_what_stands_deep_in_a_block_is_found_again() -> None:
    many = records(100)
    by_name = {f"n{number}": many[number] for number in range(100)}
    found, _ = carried({"line": many[7]["lines"], "orders": many, "by": by_name, "some": many[20:30]})

    assert found["line"] is found["orders"][7]["lines"]
    assert found["by"]["n42"] is found["orders"][42]
    assert found["some"][0] is found["orders"][20]


def test_an_order_that_knows_the_list_and_its_neighbour() -> None:
    many = orders(100)
    many[5].of = many
    many[6].of = many[7]
    found, _ = carried({"orders": many})

    assert found["orders"][5].of is found["orders"]
    assert found["orders"][6].of is found["orders"][7]


def test_two_lists_that_share_what_is_in_their_items() -> None:
    customers = orders(100)
    many = [Order(number, of=customers[number % 50]) for number in range(100)]
    found, _ = carried({"orders": many, "customers": customers})

    assert found["orders"][53].of is found["customers"][3]


def test_what_looks_like_json_and_is_not_is_written_with_care() -> None:
    many = [{"id": 1 << 80, "text": "\ud800", "far": float("inf")} for _ in range(100)]
    found, _ = carried({"many": many}, trusting=False)

    assert found["many"] == many


def test_a_variable_that_cannot_be_kept_takes_no_other_along() -> None:
    many = records(100)
    written = write_heap([{"bad": [many, lambda: 1], "orders": many}], types(), {})
    ((found, lost),) = read_heap(written, types(), {})

    assert list(lost) == ["bad"]
    assert found == {"orders": many}


def test_a_list_of_moments_without_a_zone_is_lost_and_named() -> None:
    written = write_heap([{"many": [{"at": datetime(2026, 1, 1)} for _ in range(100)]}], types(), {})  # noqa: DTZ001

    assert "zone" in written["lost"][0]["many"]


GRAPHS = st.tuples(st.integers(1, 12), st.randoms(use_true_random=False))


def graph(count: int, chance: random.Random) -> dict[str, Any]:
    """Some objects, each with some of the others in it, at any place and in circles."""
    make: list[Callable[[], Any]] = [list, dict, lambda: Order(chance.randrange(9))]
    objects = [chance.choice(make)() for _ in range(count)]
    for item in objects:
        parts = [
            chance.choice(objects) if chance.random() < 0.5 else chance.choice([1, "a", None, 2.5]) for _ in range(4)
        ]
        if isinstance(item, list):
            item.extend(parts[: chance.randrange(5)])
        elif isinstance(item, dict):
            item.update((f"k{number}", part) for number, part in enumerate(parts[: chance.randrange(5)]))
        else:
            item.of = parts[0]
    return {f"v{number}": chance.choice(objects) for number in range(3)}


@given(GRAPHS)
def test_every_object_stays_one_object_however_small_blocks_are(given_graph: tuple[int, random.Random]) -> None:
    frame = graph(*given_graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "MANY", 0)
        found, _ = carried(frame)

    assert who_is_who(found) == who_is_who(frame)


def test_lists_that_share_lists_are_looked_at_a_few_times_each(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    whole = object_writer.ObjectWriter._look_into

    def noted(self: Any, item: Any, met: Any, todo: list[Any]) -> None:
        seen.append(item)
        whole(self, item, met, todo)

    monkeypatch.setattr(object_writer.ObjectWriter, "_look_into", noted)
    again = Order(3)
    one: list[Any] = [Order(1)] * 70
    two: list[Any] = [Order(2)] * 70
    for _ in range(12):
        one, two = [one, two, again, *range(70)], [two, one, again, *range(70)]
    frame = {"both": (one, two)}
    found, _ = carried(frame)

    assert who_is_who([*found["both"]]) == who_is_who([one, two])
    assert len(seen) < 1_000
