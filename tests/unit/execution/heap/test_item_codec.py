"""Codec of single items: what it refuses is written with its whole block."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from holdfast.execution.heap import object_codec
from holdfast.execution.heap.item_codec import JSON, OBJECTS, TYPED, NotTracked
from tests.support.tracked_heap import TYPES, Part

CODEC = object_codec(TYPES, {})
SHARED: list[Any] = []


@pytest.mark.parametrize(
    ("kind", "item"),
    [
        (JSON, {"n": [1, None, "text"]}),
        (JSON, 7),
        (TYPED, {"at": datetime(2026, 1, 1, tzinfo=UTC)}),
        (TYPED, datetime(2026, 1, 1, tzinfo=UTC)),
        (TYPED, b"bytes"),
        (OBJECTS, Part(1, [Part(2, [])])),
        (OBJECTS, (1, {"n": 2})),
    ],
)
def test_an_item_is_read_as_it_was_packed(kind: str, item: Any) -> None:
    packed = CODEC.pack(kind, item).data
    assert CODEC.unpack(kind, packed) == item


@pytest.mark.parametrize(
    ("kind", "item"),
    [
        (JSON, datetime(2026, 1, 1, tzinfo=UTC)),
        (JSON, float("inf")),
        (JSON, 1 << 70),
        (JSON, {"n": "\ud800"}),
        (JSON, [SHARED, SHARED]),
        (TYPED, Part(1, [])),
        (OBJECTS, Part(SHARED, SHARED)),
        (OBJECTS, Part(1, list(range(100)))),
        (OBJECTS, Part(object(), [])),
    ],
)
def test_other_items_are_refused(kind: str, item: Any) -> None:
    with pytest.raises(NotTracked):
        CODEC.pack(kind, item)
