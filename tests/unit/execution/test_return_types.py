"""Which results an annotation allows, and how a wrong result is described."""

from __future__ import annotations

import collections.abc
import enum
import typing
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, NewType, Protocol, TypedDict, TypeVar

import msgspec
import pytest
from pydantic import BaseModel

from holdfast.execution.return_types import allowed_classes, name_of, return_check, shortened

T = TypeVar("T")


class Model(BaseModel):
    n: int


class Record(msgspec.Struct):
    n: int


@dataclass
class Order:
    n: int


@dataclass
class Rush(Order):
    pass


class Email(str):
    __slots__ = ()


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    ONE = 1


class Row(TypedDict):
    n: int


class Named(Protocol):
    name: str


Cents = NewType("Cents", int)

VALID: list[tuple[Any, list[Any]]] = [
    (int, [1, True, Level.ONE]),
    (float, [1.5, 1]),
    (str, ["x", Email("a@b")]),
    (Email, [Email("a"), "a"]),
    (bool, [True]),
    (bytes, [b"x", bytearray(b"x")]),
    (Decimal, [Decimal(1)]),
    (datetime, [datetime(2030, 1, 1)]),  # noqa: DTZ001 - naive values are allowed
    (list[int], [[1], ["not checked"], (1,)]),
    (tuple[int, ...], [(1,), [1]]),
    (dict[str, int], [{}, OrderedDict(), defaultdict(int)]),
    (OrderedDict, [OrderedDict(), {}]),
    (set[int], [{1}, frozenset({1})]),
    (collections.abc.Sequence[int], [[1], (1,), "text"]),
    (collections.abc.Iterable[int], [[1], {1}, {}, range(2)]),
    (collections.abc.Mapping[str, int], [{}]),
    (Order, [Order(1), Rush(1)]),
    (Model, [Model(n=1)]),
    (Record, [Record(n=1)]),
    (Color, [Color.RED]),
    (Row, [{"n": 1}]),
    (int | None, [1, None]),
    (typing.Optional[Order], [Order(1), None]),  # noqa: UP045 - the older notation
    (int | str, [1, "x"]),
    (Annotated[int, "cents"], [1]),
    (Cents, [1]),
]
WRONG: list[tuple[Any, list[Any]]] = [
    (int, ["5", 1.0, None, Decimal(1)]),
    (float, ["1.5", Decimal(1)]),
    (str, [5, b"x", None]),
    (bool, [1, "true"]),
    (list[int], ["abc", {1}, {}]),
    (dict[str, int], [[], Order(1)]),
    (Order, [{"n": 1}, None, "Order"]),
    (Rush, [Order(1)]),
    (Model, [{"n": 1}]),
    (Color, ["red"]),
    (int | None, ["x"]),
    (Row, [[1]]),
]


@pytest.mark.parametrize(("annotation", "results"), VALID)
def test_valid_results(annotation: Any, results: list[Any]) -> None:
    found = return_check(annotation)
    assert found is not None
    assert [found[1](result) for result in results] == [None] * len(results)


@pytest.mark.parametrize(("annotation", "results"), WRONG)
def test_wrong_results(annotation: Any, results: list[Any]) -> None:
    found = return_check(annotation)
    assert found is not None
    assert all(found[1](result) for result in results)
    assert all(result.__class__ not in found[0] for result in results)


@pytest.mark.parametrize(
    "annotation", [Any, object, None, type(None), T, Named, Literal["a"], type[int], int | T, type]
)
def test_annotations_that_cannot_be_checked_accept_everything(annotation: Any) -> None:
    assert allowed_classes(annotation) is None
    assert return_check(annotation) is None


def test_names_and_excerpts() -> None:
    assert name_of(Order) == "Order"
    assert name_of(list[int]) == "list[int]"
    assert name_of(int | None) == "int | None"
    assert shortened(None) == "None"
    assert shortened("abc") == "str: 'abc'"
    assert shortened("x" * 500) == f"str: '{'x' * 59}…"
