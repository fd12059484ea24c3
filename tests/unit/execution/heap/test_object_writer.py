"""Object writer: objects one by one, for the items of blocks."""

from __future__ import annotations

import pytest

from holdfast.execution.heap import object_codec
from holdfast.execution.heap.item_codec import OBJECTS, NotTracked
from holdfast.execution.heap.object_writer import MAX_DEPTH
from tests.support.tracked_heap import TYPES, Part


def test_an_object_that_is_nested_too_deeply_is_refused() -> None:
    part = Part(0, [])
    for _ in range(MAX_DEPTH):
        part = Part(part, [])
    with pytest.raises(NotTracked):
        object_codec(TYPES, {}).pack(OBJECTS, part)


def test_the_ids_of_all_objects_in_an_item_are_known() -> None:
    part = Part(1, [Part(2, [])])
    ids = object_codec(TYPES, {}).pack(OBJECTS, part).ids
    assert {id(part), id(part.l), id(part.l[0])} <= ids
