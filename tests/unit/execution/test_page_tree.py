"""Page trees: bounded pages, and a change that writes one page and the path to it."""

from __future__ import annotations

from itertools import chain
from typing import Any

import msgspec
from hypothesis import given, strategies as st

from holdfast.execution.page_tree import FANOUT, LEAF_BYTES, Leaf, PageTree, pages_below

pack = msgspec.msgpack.encode


class Stored:
    """A tree of a list, with the pages that a store would have."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self.tree = PageTree.build([pack(item) for item in items], None)
        self.pages: dict[str, bytes] = {}
        self.written = 0
        self.settle()

    def settle(self) -> None:
        self.written = sum(len(data) for _, data in self.tree.added)
        self.pages.update(self.tree.added)
        self.tree.added, self.tree.dropped = [], []
        self.pages = {ref: self.pages[ref] for ref in self.tree.refs()}

    def rewrite(self, places: set[int]) -> None:
        starts = {place: self.tree.start_of(place) for place in places}
        last = self.tree.leaves[-1]

        def entries_of(leaf: Leaf) -> tuple[list[bytes], None]:
            start = starts[leaf.place]
            return [pack(item) for item in self.items[start : None if leaf is last else start + leaf.count]], None

        self.tree.rewrite(places, entries_of)
        self.settle()

    def read(self) -> list[Any]:
        _, entries = PageTree.load(self.tree.root, self.pages, is_dict=False)
        return list(chain.from_iterable(entries))


@given(st.integers(0, 40_000), st.data())
def test_a_tree_is_read_as_it_was_built_and_changed(count: int, data: st.DataObject) -> None:
    stored = Stored(list(range(count)) or [0])
    assert stored.read() == stored.items
    for _ in range(3):
        index = data.draw(st.integers(0, len(stored.items) - 1))
        stored.items[index] = data.draw(st.sampled_from([1, "text" * 2_000]))
        added = data.draw(st.integers(0, 50))
        places = {stored.tree.leaf_at(index).place, *([len(stored.tree.leaves) - 1] if added else [])}
        stored.items.extend(range(added))
        stored.rewrite(places)
        assert stored.read() == stored.items
        assert stored.tree.count == len(stored.items)


def test_a_change_writes_one_leaf_and_the_pages_above_it() -> None:
    stored = Stored([f"item {number}" for number in range(100_000)])
    assert len(stored.tree.leaves) > FANOUT
    stored.items[50_000] = "item 500000"
    stored.rewrite({stored.tree.leaf_at(50_000).place})
    assert stored.written < 2 * LEAF_BYTES + 3 * FANOUT * 20


def test_pages_have_a_bounded_size() -> None:
    stored = Stored([f"item {number}" for number in range(20_000)])
    assert max(map(len, stored.pages.values())) <= LEAF_BYTES + 5
    height, top = stored.tree.root
    assert height
    assert pages_below(stored.pages[top])
