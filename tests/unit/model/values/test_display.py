"""Values as people read and write them: plain JSON, never the tags that storage uses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import msgspec
import pydantic
import pytest

from holdfast.model.types.conversion import fit
from holdfast.model.values import TypeRegistry, preview, readable, shown


class Colour(Enum):
    RED = 1


@dataclass
class Order:
    id: int
    price: Decimal


class Model(pydantic.BaseModel):
    name: str
    size: int = 3
    _hidden: int = pydantic.PrivateAttr(default=5)


VALUES: list[tuple[Any, Any]] = [
    (timedelta(hours=3), "PT3H"),
    (datetime(2031, 5, 1, 12, tzinfo=UTC), "2031-05-01T12:00:00+00:00"),
    (date(2031, 5, 1), "2031-05-01"),
    (time(12, 30), "12:30:00"),
    (Decimal("4.50"), "4.50"),
    (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    (b"hi", "aGk="),
    (Colour.RED, "RED"),
    (Order(7, Decimal("1.5")), {"id": 7, "price": "1.5"}),
    (Model(name="m"), {"name": "m", "size": 3}),
    ((1, timedelta(seconds=1)), [1, "PT1S"]),
    ({3, 1}, [1, 3]),
    ({1: "a", (2, 3): "b", None: "c"}, {"1": "a", "[2,3]": "b", "null": "c"}),
    ({"$t": "duration", "v": "mine"}, {"$t": "duration", "v": "mine"}),
    (2**70, str(2**70)),
    (1 << 20_000, hex(1 << 20_000)),
    (float("nan"), "nan"),
    ("half \ud800 of a letter", "half \\ud800 of a letter"),
    (ValueError("no"), {"type": "ValueError", "message": "no"}),
    ([{"deep": [timedelta(minutes=1)]}], [{"deep": ["PT1M"]}]),
]


@pytest.mark.parametrize(("value", "expected"), VALUES, ids=range(len(VALUES)))
def test_shown_without_tags(value: Any, expected: Any) -> None:
    assert shown(value) == expected
    assert msgspec.json.decode(msgspec.json.encode(shown(value))) == expected


@pytest.mark.parametrize(("value", "expected"), VALUES, ids=range(len(VALUES)))
def test_what_the_journal_kept_reads_the_same(value: Any, expected: Any) -> None:
    assert readable(preview(value, 10_000)) == expected


def test_what_is_shown_can_be_given_back() -> None:
    types = TypeRegistry([Order, Colour])
    for value, name in (
        (timedelta(hours=3), "duration"),
        (datetime(2031, 5, 1, 12, tzinfo=UTC), "datetime"),
        (Decimal("4.50"), "decimal"),
        (b"hi", "bytes"),
        (Colour.RED, types.name_of(Colour)),
        (Order(7, Decimal("1.5")), types.name_of(Order)),
    ):
        assert fit(shown(value), name, types) == value


def test_what_cannot_be_kept_is_described() -> None:
    assert shown(object()).startswith("<object object at ")


def test_what_was_left_out_says_so() -> None:
    assert readable(preview("x" * 2000, 1024)) == {
        "omitted": "str",
        "size": 2002,
        "hash": preview("x" * 2000, 1024)["hash"],
    }
