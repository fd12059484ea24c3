from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from holdfast.model.definition import ActivityNode, Connection, Definition, Expression, InputDeclaration
from holdfast.model.hashing import content_hash, stimulus_hash, text_hash
from holdfast.model.values import TypeRegistry


class Colour(Enum):
    RED = 1


def test_the_hash_is_this_one_for_ever() -> None:
    """Stored bookmarks are matched by it: a change here loses them."""
    assert stimulus_hash("Event", {"name": "paid", "n": 1, "x": 1.5, "d": Decimal("1.50")}) == stimulus_hash(
        "Event", {"d": Decimal("1.5"), "x": 1.5, "n": 1, "name": "paid"}
    )
    assert (
        stimulus_hash("Event", {"name": "paid"}) == "7dd452f4db4a85d8ec5c96d6f018a8cd2a7494835ffcf3b52e4609a33769b513"
    )
    assert (
        stimulus_hash(1.5, True, None, b"x", (1, 2), {3: "ü"}, frozenset({"a", "b"}))
        == "51ec427755e598cc73e1501d5f3823b3566d81336728b84d9181e82d1b646ecc"
    )


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: "a", 2: "b"}, {2: "b", 1: "a"}),
        ({1, 2, "x"}, {"x", 2, 1}),
        ({1}, frozenset({1})),
        ((1, [2]), [1, (2,)]),
        (Decimal("1.0"), Decimal("1.00")),
        (Decimal(100), Decimal("1E+2")),
        (Decimal("0.00"), Decimal("-0")),
        (0.0, -0.0),
        (datetime(2031, 5, 1, 12, tzinfo=UTC), datetime(2031, 5, 1, 14, tzinfo=timezone(timedelta(hours=2)))),
    ],
)
def test_what_means_the_same_has_the_same_hash(left: Any, right: Any) -> None:
    assert stimulus_hash("x", left) == stimulus_hash("x", right)


def test_what_differs_has_another_hash() -> None:
    different: list[Any] = [
        1, 1.0, True, "1", Decimal(1), None, "", 0, False, [], {}, "a", b"a", ["a"], Colour.RED, "RED",
        {"a": 1}, {"a": "1"}, {1: 1}, 2**70, 10**22, 1e22, float("nan"), float("inf"), Decimal("NaN"),
        Decimal("1.0000000000000000000000000000000000000001"), {"$t": "decimal", "v": "1e0"}, datetime.min.replace(tzinfo=UTC),
    ]  # fmt: skip
    assert len({stimulus_hash(value) for value in different}) == len(different)
    assert stimulus_hash("a", "b") != stimulus_hash("ab") != stimulus_hash("b", "a")
    assert stimulus_hash() != stimulus_hash(None)


def test_a_moment_outside_the_calendar_of_utc_has_a_hash() -> None:
    assert stimulus_hash(datetime.min.replace(tzinfo=timezone(timedelta(hours=2))))


@given(st.dictionaries(st.text() | st.integers(), st.integers() | st.text(), max_size=6), st.randoms())
def test_order_makes_no_difference(value: dict[Any, Any], random: Any) -> None:
    items = list(value.items())
    random.shuffle(items)
    assert stimulus_hash(dict(items)) == stimulus_hash(value)


def test_public_names_of_classes_count_where_a_registry_is_given() -> None:
    types = TypeRegistry()
    types.register(Colour, name="colour")
    assert stimulus_hash(Colour.RED, types=types) != stimulus_hash(Colour.RED)


def test_another_process_with_another_hash_seed_agrees() -> None:
    code = "from holdfast.model.hashing import stimulus_hash; print(stimulus_hash({'a', 'b', 'c'}, {'x': 1, 'y': 2}))"
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == stimulus_hash({"a", "b", "c"}, {"x": 1, "y": 2})


BASE = Definition(
    id="d",
    name="D",
    inputs=(InputDeclaration(name="a", type="string"),),
    root=ActivityNode(
        id="flow",
        type="Flowchart",
        ports={"activities": (ActivityNode(id="w", type="WriteLine", inputs={"text": Expression("python", "a")}),)},
        connections=(Connection(source="w", target="w"),),
    ),
)


def _changed(**fields: Any) -> Definition:
    return msgspec.structs.replace(BASE, **fields)


def test_what_people_read_is_not_content() -> None:
    child = ActivityNode(
        id="w", type="WriteLine", inputs={"text": Expression("python", "a")}, metadata={"position": {"x": 1, "y": 2}}
    )
    moved = msgspec.structs.replace(
        BASE.root,
        ports={"activities": (child,)},
        metadata={"description": "x"},
        connections=(Connection(source="w", target="w", metadata={"vertices": []}),),
    )
    described = (
        InputDeclaration(name="a", type="string", description="d", display_name="A", category="c", editor="e"),
    )
    for same in (
        _changed(version=7),
        _changed(description="x", labels=("l",), metadata={"m": 1}),
        _changed(root=moved),
        _changed(inputs=described),
    ):
        assert content_hash(same) == content_hash(BASE)


def test_what_runs_is_content() -> None:
    others = [
        _changed(id="e"),
        _changed(inputs=()),
        _changed(root=msgspec.structs.replace(BASE.root, connections=())),
        _changed(root=msgspec.structs.replace(BASE.root, name="n")),
        _changed(inputs=(InputDeclaration(name="a", type="string", default="x"),)),
    ]
    assert len({content_hash(each) for each in [BASE, *others]}) == len(others) + 1


@pytest.mark.parametrize("texts", [["i", None, None], [None, "é", "x"], ["\ud800", None, "1"], []])
def test_the_fast_hash_of_texts_is_the_same(texts: list[str | None]) -> None:
    assert text_hash("address", texts) == stimulus_hash("address", texts)
