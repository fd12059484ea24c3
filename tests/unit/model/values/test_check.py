from __future__ import annotations

import collections
import io
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from holdfast.errors import ValueRefused
from holdfast.model.values import SCALARS, TypeRegistry, check, copy, encode


@dataclass
class Line:
    callback: Any


@dataclass
class Order:
    lines: list[Line] = field(default_factory=list)


def test_scalars_are_the_exact_immutable_classes() -> None:
    assert {type(None), bool, int, float, str, bytes, Decimal, date, timedelta, UUID} == SCALARS


def test_the_path_inside_the_value_is_named() -> None:
    order = Order([Line(1), Line(2), Line(3), Line(print)])
    for refuse in (check, copy):
        with pytest.raises(ValueRefused) as caught:
            refuse(order, "order")
        assert caught.value.name == "order.lines[3].callback"
        assert "Keep its name instead" in caught.value.remedy
    with pytest.raises(ValueRefused) as caught:
        check({"a": {"b c": [1, {2: object()}]}}, "data")
    assert caught.value.name == "data.a['b c'][1][2]"
    with pytest.raises(ValueRefused) as caught:
        check({(1, print): 1}, "data")
    assert caught.value.name == "data[key tuple][1]"


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        (datetime(2030, 1, 1), "time zone"),  # noqa: DTZ001 - a naive one is the point
        ((item for item in "ab"), "list"),
        (io.StringIO(), "path"),
        (Path("x"), "str"),
        (bytearray(b"x"), "bytes"),
        (collections.OrderedDict(a=1), "dict"),
        (collections.deque([1]), "list"),
        (lambda: 1, "name"),
        (int, "name"),
        (collections, "Import"),
        (object(), "identifier"),
        (type("Text", (str,), {})("x"), "str"),
        (3j, "identifier"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_remedy(value: Any, remedy: str) -> None:
    for refuse in (check, copy):
        with pytest.raises(ValueRefused, match=remedy):
            refuse([1, value], "x")
    with pytest.raises(ValueRefused):
        encode({"a": value})


def test_a_coroutine_is_told_to_be_awaited() -> None:
    async def later() -> None: ...

    coroutine = later()
    with pytest.raises(ValueRefused, match="Await"):
        check(coroutine, "x")
    coroutine.close()


def test_a_value_that_contains_itself_is_refused() -> None:
    items: list[Any] = [1]
    items.extend([items, items])
    keyed: dict[str, Any] = {}
    keyed["self"] = [keyed]
    order = Order()
    order.lines.append(Line(order))
    for value in (items, keyed, order):
        for refuse in (check, copy):
            with pytest.raises(ValueRefused, match="contains itself"):
                refuse(value, "x")
        with pytest.raises(ValueRefused, match="contains itself"):
            encode(value)


def test_a_bomb_of_shared_lists_is_refused_in_time() -> None:
    bomb: Any = []
    for _ in range(60):
        bomb = [bomb, bomb]
    for refuse in (check, copy):
        with pytest.raises(ValueRefused, match="a million items"):
            refuse(bomb, "x")


def test_unregistered_classes_are_refused_where_a_registry_is_given() -> None:
    check(Order(), "x")
    check(Order(), "x", TypeRegistry([Order]))
    with pytest.raises(ValueRefused, match="Register"):
        check([Order()], "x", TypeRegistry())
