"""Stored form of a large block: the tree and the changes since it was written."""

from __future__ import annotations

import msgspec

from holdfast.execution.heap.paged_block import PAGED, ChangeLog, PagedBlock, paged_reference
from holdfast.execution.page_tree import PageTree

pack = msgspec.msgpack.encode


def test_changes_are_applied_to_the_items_of_a_list() -> None:
    tree = PageTree.build([pack(number) for number in range(5)], None)
    log = ChangeLog(4, {1: pack("one"), 4: pack("four"), 5: pack("five")})
    stored = paged_reference(tree, log, is_dict=False)
    assert stored.code == PAGED

    block = PagedBlock(bytes(stored.data), dict(tree.added))

    assert block.load()[1] == [0, "one", 2, 3, "four", "five"]


def test_a_key_that_was_removed_and_set_again_is_the_last_one() -> None:
    tree = PageTree.build([pack(key) + pack(number) for number, key in enumerate("abc")], list("abc"))
    log = ChangeLog(changed={"b": pack(7), "a": pack(8)}, removed={"a"})

    found = PagedBlock(bytes(paged_reference(tree, log, is_dict=True).data), dict(tree.added)).load()[1]

    assert list(found.items()) == [("b", 7), ("c", 2), ("a", 8)]
