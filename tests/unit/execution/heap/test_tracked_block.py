"""Tracked blocks: changes stay in the log of the state until the log is too long."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.execution.heap import object_codec
from holdfast.execution.heap.item_codec import JSON, NotTracked, entries_of
from holdfast.execution.heap.paged_block import ChangeLog
from holdfast.execution.heap.tracked_block import LOG_BYTES_MAX, TrackedBlock
from holdfast.execution.page_tree import PageTree
from tests.support.tracked_heap import TYPES

CODEC = object_codec(TYPES, {})


def block_of(value: Any) -> TrackedBlock:
    tree = PageTree.build(entries_of(value), list(value) if value.__class__ is dict else None)
    tree.added = []
    return TrackedBlock(JSON, tree, ChangeLog(), value)


def committed(block: TrackedBlock) -> int:
    """Bytes of pages that a commit of the block writes."""
    list(block.packed_items(CODEC))
    block.write(CODEC)
    block.replace_touched(CODEC)
    written = sum(len(data) for _, data in block.tree.added)
    block.tree.added = []
    return written


def test_appended_items_wait_in_the_log_until_it_is_too_long() -> None:
    block = block_of(list(range(5_000)))
    written = []
    for number in range(300):
        block.touch_tail(CODEC)
        block.value.append(number)
        written.append(committed(block))
        assert block.log.size <= LOG_BYTES_MAX
    assert written[0] == 0
    assert 0 < sum(map(bool, written)) < 20


def test_an_item_that_did_not_change_writes_nothing() -> None:
    block = block_of([{"n": number} for number in range(2_000)])
    for key in range(100):
        block.touch(key, CODEC)
    assert committed(block) == 0
    assert not block.log


@pytest.mark.parametrize("change", ["append", "del", "insert"])
def test_a_change_that_was_not_reported_is_noticed(change: str) -> None:
    block = block_of({f"k{number}": number for number in range(500)} if change == "insert" else list(range(500)))
    if change == "append":
        block.value.append(1)
    elif change == "del":
        del block.value[3]
    else:
        block.value["new"] = 1
    with pytest.raises(NotTracked):
        list(block.packed_items(CODEC))


def test_touched_items_are_replaced_by_copies() -> None:
    block = block_of([{"n": number} for number in range(500)])
    held = block.value[7]
    block.touch(7, CODEC)
    committed(block)
    assert block.value[7] == held
    assert block.value[7] is not held
    assert block.key_of(held) is None
    assert block.key_of(block.value[7]) == 7
