"""Values as text: the same on every machine."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest

from holdfast.model.types.text import to_text


class Colour(Enum):
    RED = "red"
    TWO = 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "text"),
        (7, "7"),
        (Colour.RED, "red"),
        (Colour.TWO, "TWO"),
        (Decimal("1E+3"), "1000"),
        (Decimal("NaN"), "NaN"),
        (date(2030, 1, 2), "2030-01-02"),
        (time(9, 30), "09:30:00"),
        (datetime(2030, 1, 2, tzinfo=UTC), "2030-01-02T00:00:00+00:00"),
        (timedelta(hours=3), "PT3H"),
        (b"\x00\xff", "AP8="),
        ([1, {"a": timedelta(hours=3)}], '[1,{"a":"PT3H"}]'),
    ],
)
def test_a_value_has_one_text(value: Any, text: str) -> None:
    assert to_text(value) == text
