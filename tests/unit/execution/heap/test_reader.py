"""Objects that hold themselves, among the variables of a function: read back as they were, or refused when they are written."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from holdfast.execution.heap import is_storable_iterator, read_heap, write_heap
from holdfast.execution.heap.iterators import decompose
from holdfast.model.values import TypeRegistry


@dataclass(eq=False)
class Node:
    kids: Any = ()
    of: Any = None


@dataclass(frozen=True)
class Fixed:
    """Its hash is that of its parts."""

    parts: Any


class Pair(NamedTuple):
    one: Any
    two: Any


class Trouble(Exception):
    pass


def types() -> TypeRegistry:
    return TypeRegistry([Node, Fixed, Pair, Trouble])


def carried(*frames: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    written = write_heap(list(frames), types(), {}, trusting=True)
    read = read_heap(msgspec.msgpack.decode(msgspec.msgpack.encode(written)), types(), {})
    return [found for found, _ in read], [lost for _, lost in read]


def parts_of(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, dict):
        return [item for pair in value.items() for item in pair]
    if isinstance(value, Node):
        return [value.kids, value.of]
    if isinstance(value, Fixed):
        return [value.parts]
    if isinstance(value, Trouble):
        return [*value.args, value.__cause__, vars(value)]
    if is_storable_iterator(value):
        position = decompose(value)
        assert position is not None
        return [position.maker, *position.parts, position.at]
    return []


def who_is_who(value: Any) -> list[Any]:
    """Every object once, as what it is made of by number: equal for two values of the same make."""
    numbers, found, todo = {id(value): 0}, list[Any](), [value]
    for item in todo:  # It grows meanwhile.
        inside = []
        for part in parts_of(item):
            if isinstance(part, str | int | None):
                inside.append(part)
                continue
            if id(part) not in numbers:
                numbers[id(part)] = len(numbers)
                todo.append(part)
            inside.append(f"#{numbers[id(part)]}")
        found.append([type(item).__name__.removeprefix("DictPosition"), inside])
    return found


def through_a_tuple() -> Any:
    inner: list[Any] = []
    inner.append((inner, 1))
    return inner[0]


def through_arguments() -> Any:
    inner: list[Any] = []
    inner.append(Trouble(inner))
    return inner[0]


def through_itself() -> Any:
    error = Trouble()
    error.args = (error,)
    return error


def through_a_named_tuple() -> Any:
    inner: list[Any] = []
    inner.append(Pair(inner, 2))
    return inner[0]


def through_an_iterator() -> Any:
    inner: list[Any] = [1, 2]
    inner.append(iter(inner))
    return inner[2]


def through_its_hash() -> Any:
    inner: set[Any] = set()
    fixed = Fixed(())
    inner.add(fixed)
    object.__setattr__(fixed, "parts", inner)
    return fixed


LOOPS = [
    through_a_tuple,
    through_arguments,
    through_itself,
    through_a_named_tuple,
    through_an_iterator,
    through_its_hash,
]


@pytest.mark.parametrize("make", LOOPS, ids=lambda make: make.__name__)
def test_what_cannot_be_read_back_is_refused_by_name(make: Callable[[], Any]) -> None:
    (found,), (lost,) = carried({"before": [1], "odd": make(), "after": [2]})

    assert found == {"before": [1], "after": [2]}
    assert "contains itself" in lost["odd"]
    assert "Store a key" in lost["odd"]


def test_one_that_is_met_first_at_what_may_hold_itself_is_kept() -> None:
    node = Node(kids=(Node(), Node()))
    for kid in node.kids:
        kid.of = node

    for frame in ({"node": node}, {"kids": node.kids, "node": node}, {"kid": node.kids[1], "kids": node.kids}):
        (found,), (lost,) = carried(frame)
        assert not lost
        for name, value in frame.items():
            assert who_is_who(found[name]) == who_is_who(value)
    assert found["kids"][1] is found["kid"]
    assert found["kid"].of.kids is found["kids"]


def test_what_an_exception_shares_with_its_cause() -> None:
    shared = [1]
    error = Trouble(shared)
    error.__cause__ = Trouble(shared)

    (found,), _ = carried({"error": error})

    assert found["error"].args[0] is found["error"].__cause__.args[0]


def test_an_iterator_that_reaches_itself_with_much_left() -> None:
    many = {Node() for _ in range(300)}
    left = iter(many)
    next(left)
    for node in many:
        node.of = left

    (found,), (lost,) = carried({"left": left, "many": many, "one": 1})

    assert found["one"] == 1
    assert set(found) | set(lost) == {"left", "many", "one"}


@pytest.mark.parametrize("depth", [140, 200, 5000])
@pytest.mark.parametrize("many", [1, 300])
def test_a_long_chain_is_refused_before_it_cannot_be_read(depth: int, many: int) -> None:
    chain = None
    for _ in range(depth):
        chain = Node((), chain)

    (found,), (lost,) = carried({"before": [1], "chain": [chain] + [Node() for _ in range(many)]})

    assert found["before"] == [1]
    assert ("chain" in found) == (depth == 140)
    assert depth == 140 or "nested more than 150 levels deep" in lost["chain"]


def test_a_dict_that_holds_its_iterator() -> None:
    numbers: dict[str, Any] = {"a": 1, "b": 2, "c": 3}
    left = iter(numbers.items())
    next(left)
    numbers["b"] = left

    (found,), (lost,) = carried({"numbers": numbers})

    assert not lost
    assert next(found["numbers"]["b"]) == ("b", found["numbers"]["b"])


MAKERS: list[Callable[[list[Any]], Any]] = [
    tuple,
    list,
    lambda found: Node(found, found[0] if found else None),
    lambda found: Trouble(*found),
    lambda found: Pair(found, tuple(found)),
    lambda found: iter(list(found)),
    lambda found: Fixed(tuple(found)),
]


def odd_values(seed: int) -> dict[str, Any]:
    """Containers that hold each other at random."""
    dice = random.Random(seed)
    made: list[Any] = [[], {}, Node(), Trouble(), [], Node()]

    def some(most: int) -> list[Any]:
        return [dice.choice([*made, 1, "x"]) for _ in range(dice.randint(0, most))]

    for _ in range(dice.randint(1, 8)):
        make = dice.choice(MAKERS)
        made.append(make(some(3)))
    for item in made:
        if type(item) is list:
            item.extend(some(3))
        elif type(item) is dict:
            item.update(zip("abc", some(3), strict=False))
        elif isinstance(item, Node):
            item.kids, item.of = some(3), tuple(some(2))
        elif isinstance(item, Trouble) and dice.random() < 0.5:
            item.__cause__ = dice.choice([one for one in made if isinstance(one, Trouble)])
            item.note = dice.choice(made)  # type: ignore[attr-defined]  # exceptions may be given any
    dice.shuffle(made)
    return {f"v{number}": value for number, value in enumerate(made[: dice.randint(1, 5)])}


@given(st.integers(min_value=0, max_value=1 << 32))
@settings(max_examples=300)
def test_what_is_kept_is_what_it_was(seed: int) -> None:
    frame = odd_values(seed)
    (found,), (lost,) = carried(frame)

    assert set(found) | set(lost) == set(frame)
    kept = [name for name in frame if name in found]
    assert who_is_who([frame[name] for name in kept]) == who_is_who([found[name] for name in kept])
