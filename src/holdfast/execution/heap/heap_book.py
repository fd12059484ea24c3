"""Tracking: which items of large blocks the code of a burst can have changed.

The heap of an instance has a `HeapBook`: its large blocks with their live values. Frames that refer to blocks are
`TrackedScope`s. Before a text of a compiled function runs, it reports the variables that it mentions (`mention`). An
item that a variable holds is touched. A block that a variable holds is handled by a second compilation of the text
(`execution.heap.traced_text`), which reports the items it uses. Everything else that leads to a block, such as a small
dict that contains it, touches the whole block. Objects that no text mentions cannot change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from types import BuiltinMethodType
from typing import Any

from holdfast.execution.branches.branch_index import BranchChanges
from holdfast.execution.heap.cells import CellLinks
from holdfast.execution.heap.inner_blocks import is_field, objects_in
from holdfast.execution.heap.item_codec import TEXT, Cells, ItemCodec, NotTracked
from holdfast.execution.heap.iterators import DictPosition
from holdfast.execution.heap.tracked_block import TrackedBlock
from holdfast.model.values import SCALARS

Reach = tuple[int, Any]
"""Block number, and the index or key of an item; `WHOLE` for the block itself."""
WHOLE = object()
_KEYS: frozenset[type] = frozenset({str, int})


class HeapBook:
    """The large blocks of a heap and the log of a burst. Owned by one burst or by the cache, never by both."""

    def __init__(
        self,
        blocks: list[TrackedBlock | None],
        refs: Counter[str],
        codec: ItemCodec,
        *,
        tracks: bool,
        fresh: dict[str, bytes] | None = None,
        cells: CellLinks | None = None,
    ) -> None:
        self.blocks = blocks
        """By their number in the heap's document. None for a block that is stored in the document itself, and for a block
        that was first stored by the last commit: its value is read from `fresh`, since other code may hold the objects.
        """
        self.refs = refs
        """Stored pages, counted, because equal pages are one value."""
        self.codec = codec
        self.tracks = tracks
        """False: objects in blocks are shared with other values, so the whole heap is written each time."""
        self.fresh: dict[str, bytes] = {} if fresh is None else fresh
        """Pages of blocks that the last commit stored first."""
        self.cells = cells
        """Objects that several items share, if there are any."""
        self.refuses_cells = False
        """The shared objects of this heap cannot be cells, so later commits need not try it again."""
        self.branches: BranchChanges | None = None
        """Index of the sleeping branches after the last commit, whose records are one of the blocks."""
        self._by_id: dict[int, TrackedBlock] = {}
        self._with_objects: list[TrackedBlock] = []
        self._nested: dict[int, tuple[TrackedBlock, Any]] = {}
        self._inside: set[int] = set()
        """Blocks inside small values, by number."""
        self.loops: list[tuple[TrackedBlock, DictPosition]] = []
        """Iterators of blocks that variables referred to when the burst began."""
        self._owners: list[Any] = []
        """Containers whose key the running text is about to tell."""

    def begin(self) -> None:
        """Begin the log of a burst."""
        live = [block for block in self.blocks if block is not None]
        for block in live:
            block.begin()
        self._by_id = {id(block.value): block for block in live}
        self._with_objects = [block for block in live if block.places]
        self._nested, self._inside, self._owners, self.loops = {}, set(), [], []

    def use(self, codec: ItemCodec) -> None:
        """Pack and read items with this codec."""
        self.codec = codec
        if self.cells is not None:
            codec.cells = Cells(self.cells.pool.value, self.cells.pool.places)

    def tracked(self) -> Iterator[TrackedBlock]:
        """Blocks whose changes are known item by item."""
        return (block for block in self.blocks if block is not None and not block.whole)

    @property
    def weight(self) -> int:
        """Approximate bytes in memory."""
        return sum(block.weight for block in self.blocks if block is not None) + sum(map(len, self.fresh.values()))

    # -- reports -------------------------------------------------------------------------------------------------------

    def block_of(self, value: Any) -> TrackedBlock | None:
        found = self._by_id.get(id(value))
        return found if found is not None and found.value is value else None

    def mention(self, value: Any) -> None:
        """Code can change this value. Blocks themselves are not touched by it."""
        if value.__class__ in SCALARS:
            return
        found = self._item_of(value)
        if found is not None:
            self._touch(*found)
        elif value.__class__ is tuple:  # `enumerate` and `zip` make new tuples of items
            for item in value:
                self.mention(item)

    def _item_of(self, value: Any) -> tuple[TrackedBlock, Any] | None:
        """The block and key of an item, or of the item that an object is in."""
        for block in self._with_objects:
            key = block.key_of(value)
            if key is not None:
                return block, key
        return self._nested.get(id(value))

    def take(self, value: Any) -> None:
        """A variable takes a value from an iterator. The variable does not know the blocks in it."""
        if value.__class__ in SCALARS:
            return
        if value.__class__ is tuple and self._item_of(value) is None:
            for item in value:
                self.take(item)
        else:
            self.mention(value)
            self.alias(value)

    def refer(self, number: int, key: Any) -> None:
        """A variable refers to an item or to an object in it."""
        block = self.blocks[number]
        if block is None or block.kind == TEXT or key in block.addressed:
            return
        block.addressed.add(key)
        item = block.value[key]
        if item.__class__ in SCALARS:
            return
        try:
            for inner in self.codec.pack(block.kind, item).ids:
                self._nested[inner] = block, key
        except NotTracked:
            block.whole = True

    def hold(self, number: int) -> None:
        """A block is inside a small value."""
        self._inside.add(number)

    def reach(self, found: Iterable[Reach]) -> bool:
        """Code can change the items that a value refers to. True if the value contains a block, which is not touched."""
        has_block = False
        for number, key in found:
            block = self.blocks[number]
            if block is not None and block.kind != TEXT:
                if key is WHOLE:
                    has_block = True
                else:
                    self._touch(block, key)
        return has_block

    def _reach_from(self, value: Any) -> None:
        """Code does anything with a value that is not a block itself."""
        if value.__class__ in SCALARS or self._item_of(value) is not None:  # items contain no blocks
            return
        found = objects_in(value)
        for number in self._inside:
            block = self.blocks[number]
            if block is not None and (found is None or any(block.value is item for item in found)):
                block.whole = True

    def _touch(self, block: TrackedBlock, key: Any) -> None:
        self._nest(block, key, block.touch(key, self.codec))

    def _nest(self, block: TrackedBlock, key: Any, ids: Iterable[int]) -> None:
        for inner in ids:
            self._nested[inner] = block, key
        links = block.links.get(key)
        if links and self.cells is not None:
            self._touch_cells(links)

    def _touch_cells(self, links: Iterable[int]) -> None:
        """Code that can change an item can change everything that the item links to."""
        assert self.cells is not None
        pool, todo = self.cells.pool, list(links)
        while todo:
            number = todo.pop()
            if number not in pool.touched and not pool.whole:
                for inner in pool.touch(number, self.codec):
                    self._nested[inner] = pool, number
                todo += pool.links.get(number, ())

    def dict_iterator(self, source: dict[Any, Any], kind: str, consumed: int, left: int, size: int) -> DictPosition:
        """An iterator of a dict. If the dict is a block, the last burst may have left an iterator at this position."""
        block = self.block_of(source)
        if block is None:
            return DictPosition(source, kind, consumed, left, size)
        found = DictPosition(source, kind, consumed, left, size, block.iterators.pop((kind, consumed), None))
        self.loops.append((block, found))
        return found

    # -- reports of traced texts ---------------------------------------------------------------------------------------

    def appended_to(self, value: Any) -> TrackedBlock | None:
        """The block whose method `append` the value is."""
        if value.__class__ is not BuiltinMethodType or value.__name__ != "append":
            return None
        return self.block_of(value.__self__)

    def call(self, value: Any) -> Any:
        """Code calls the value."""
        block = self.appended_to(value)
        if block is None:
            return self.whole(value)
        block.touch_tail(self.codec)
        return value

    def whole(self, value: Any) -> Any:
        """Code does anything with the value."""
        block = self.block_of(value) or self.appended_to(value)
        if block is not None:
            block.whole = True
        elif self._inside:
            self._reach_from(value)
        return value

    def alias(self, value: Any) -> Any:
        """Code assigns the value to a variable. A block is known there by its identity."""
        return value if self.block_of(value) is not None else self.whole(value)

    def method(self, value: Any) -> Any:
        """Code assigns a method `append` to a variable."""
        return value if self.appended_to(value) is not None else self.whole(value)

    def owner(self, value: Any, name: str) -> Any:
        """Code uses `value.name`."""
        if value.__class__ is list or value.__class__ is dict:
            return value if name == "append" else self.whole(value)
        return value if is_field(value.__class__, name) else self.whole(value)

    def container(self, value: Any) -> Any:
        """Code uses `value[key]` or `value.get(key)`, and is about to tell the key."""
        self._owners.append(value)
        return value

    def inner_key(self, key: Any) -> Any:
        """The key of the container."""
        return self.key(self._owners.pop(), key)

    def removed_key(self, key: Any) -> Any:
        """The key of the container, which code removes."""
        return self.removed(self._owners.pop(), key)

    def extends(self, value: Any, *steps: tuple[bool, Any]) -> None:
        """Code uses `value.field[key] += …`, which may change the object there in place. `steps` are the fields and keys, each
        with True for a field. They are read here without running code of users.
        """
        found = value
        for is_name, key in steps:
            if is_name and is_field(found.__class__, key):
                found = getattr(found, key, None)
            elif not is_name and found.__class__ is dict and key.__class__ in _KEYS:
                found = found.get(key)
            elif not is_name and found.__class__ is list and key.__class__ is int:
                found = found[key] if -len(found) <= key < len(found) else None
            else:
                self.changed_inside(value)
                return
        block = self.block_of(found)
        if block is not None:
            block.touch_tail(self.codec)

    def changed_inside(self, value: Any) -> None:
        """Code may change objects in the value in place. Those in the items of a block are touched with the items."""
        if self.block_of(value) is None:
            self.whole(value)

    def expose_inside(self, value: Any) -> None:
        """Code that does not report its uses can change the blocks in this value."""
        if self._inside:
            self.whole(value)

    def key(self, value: Any, key: Any) -> Any:
        """Code uses `value[key]`."""
        block = self.block_of(value)
        if block is None:
            self._plain(value)
        elif key.__class__ is slice:
            block.whole = True
        else:
            at = key + len(value) if key.__class__ is int and key < 0 and value.__class__ is list else key
            self._nest(block, at, block.touch_key(key, self.codec))
        return key

    def removed(self, value: Any, key: Any) -> Any:
        """Code removes `value[key]`."""
        block = self.block_of(value)
        if block is None:
            self._plain(value)
        else:
            self._nest(block, key, block.touch_key(key, self.codec, removes=True))
        return key

    def tail(self, value: Any) -> Any:
        """Code appends to a list."""
        block = self.block_of(value)
        if block is None:
            self._plain(value)
        else:
            block.touch_tail(self.codec)
        return value

    def last(self, value: Any) -> Any:
        """Code removes the last item of a list."""
        block = self.block_of(value)
        if block is None:
            self._plain(value)
        else:
            at = len(block.value) - 1
            self._nest(block, at, block.touch_tail(self.codec, removes=True))
        return value

    def _plain(self, value: Any) -> None:
        """Code uses a container that is not a block. Containers of other classes may do anything."""
        if self._inside and value.__class__ is not list and value.__class__ is not dict:
            self._reach_from(value)

    # -- commit --------------------------------------------------------------------------------------------------------

    def count_loops(self) -> None:
        """Before the commit: iterators of dicts whose keys are the same know their position."""
        for block, loop in self.loops:
            loop.counts = not block.whole and not block.has_other_keys()

    def _keep_loops(self) -> None:
        """After the commit: iterators of dicts stay where they are, because finding the position again means counting."""
        kept = set(map(id, self.blocks))
        for block, loop in self.loops:
            inner = loop.release()
            if inner is not None and loop.counts and id(block) in kept:
                block.iterators[loop.kind, loop.consumed] = inner

    def replace_touched(self) -> None:
        """After the commit: nothing outside the blocks may refer to objects in them."""
        self._keep_loops()
        if self.cells is not None:
            self.cells.replace_touched(self.codec)
        for block in self.blocks:
            if block is not None:
                block.replace_touched(self.codec)
