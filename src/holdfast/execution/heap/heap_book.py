"""Tracking: which items of large blocks the code of a burst can have changed.

The heap of an instance has a `HeapBook`: its large blocks with their live values. Frames that refer to blocks are
`TrackedScope`s. Before a text of a compiled function runs, it reports the variables that it mentions (`mention`). An
item that a variable holds is touched. A block that a variable holds is handled by a second compilation of the text
(`execution.heap.traced_text`), which reports the items it uses. Everything else that leads to a block, such as a small
dict that contains it, touches the whole block. Objects that no text mentions cannot change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import BuiltinMethodType
from typing import Any

from holdfast.execution.branches.branch_index import BranchChanges
from holdfast.execution.heap.item_codec import ItemCodec, NotTracked
from holdfast.execution.heap.iterators import DictPosition
from holdfast.execution.heap.tracked_block import TrackedBlock
from holdfast.model.scope import Scope
from holdfast.model.values import SCALARS

Reach = tuple[int, Any]
"""Block number, and the index or key of an item; `WHOLE` for the block itself."""
WHOLE = object()
_NOTHING: dict[Any, Any] = {}
_SOURCES: tuple[Iterable[Any], ...] = (
    [],
    (),
    "",
    "\u0416",
    b"",
    range(0),
    range(1 << 70),
    _NOTHING,
    _NOTHING.values(),
    _NOTHING.items(),
)
_READING: frozenset[type] = frozenset(
    {
        *(type(iter(source)) for source in _SOURCES),
        type(reversed([])),
        DictPosition,
    }
)
"""Iterators that call no functions."""


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
        self.branches: BranchChanges | None = None
        """Index of the sleeping branches after the last commit, whose records are one of the blocks."""
        self._by_id: dict[int, TrackedBlock] = {}
        self._with_objects: list[TrackedBlock] = []
        self._nested: dict[int, tuple[TrackedBlock, Any]] = {}

    def begin(self) -> None:
        """Begin the log of a burst."""
        live = [block for block in self.blocks if block is not None]
        for block in live:
            block.begin()
        self._by_id = {id(block.value): block for block in live}
        self._with_objects = [block for block in live if block.places]
        self._nested = {}

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
        for block in self._with_objects:
            key = block.key_of(value)
            if key is not None:
                self._touch(block, key)
                return
        found = self._nested.get(id(value))
        if found is not None:
            self._touch(*found)
        elif value.__class__ is tuple:  # `enumerate` and `zip` make new tuples of items
            for item in value:
                self.mention(item)

    def refer(self, number: int, key: Any) -> None:
        """A variable refers to an item or to an object in it."""
        block = self.blocks[number]
        if block is None or key in block.addressed:
            return
        block.addressed.add(key)
        item = block.value[key]
        if item.__class__ in SCALARS:
            return
        try:
            self._nest(block, key, self.codec.pack(block.kind, item)[1])
        except NotTracked:
            block.whole = True

    def reach(self, found: Iterable[Reach]) -> None:
        """Code can change everything that a value refers to."""
        for number, key in found:
            block = self.blocks[number]
            if block is not None:
                if key is WHOLE:
                    block.whole = True
                else:
                    self._touch(block, key)

    def _touch(self, block: TrackedBlock, key: Any) -> None:
        self._nest(block, key, block.touch(key, self.codec))

    def _nest(self, block: TrackedBlock, key: Any, ids: Iterable[int]) -> None:
        for inner in ids:
            self._nested[inner] = block, key

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
        return value

    def key(self, value: Any, key: Any) -> Any:
        """Code uses `value[key]`."""
        block = self.block_of(value)
        if block is not None:
            if key.__class__ is slice:
                block.whole = True
            else:
                self._nest(block, key, block.touch_key(key, self.codec))
        return key

    def removed(self, value: Any, key: Any) -> Any:
        """Code removes `value[key]`."""
        block = self.block_of(value)
        if block is not None:
            self._nest(block, key, block.touch_key(key, self.codec, removes=True))
        return key

    def tail(self, value: Any) -> Any:
        """Code appends to a list."""
        block = self.block_of(value)
        if block is not None:
            block.touch_tail(self.codec)
        return value

    def last(self, value: Any) -> Any:
        """Code removes the last item of a list."""
        block = self.block_of(value)
        if block is not None:
            at = len(block.value) - 1
            self._nest(block, at, block.touch_tail(self.codec, removes=True))
        return value

    # -- commit --------------------------------------------------------------------------------------------------------

    def replace_touched(self) -> None:
        """After the commit: nothing outside the blocks may refer to objects in them."""
        for block in self.blocks:
            if block is not None:
                block.replace_touched(self.codec)


class TrackedScope(list[Any]):
    """Frame whose variables refer to blocks."""

    __slots__ = ("book", "reaches")

    def __init__(self, items: Scope, book: HeapBook, reaches: Mapping[int, Iterable[Reach]]) -> None:
        super().__init__(items)
        self.book = book
        self.reaches = reaches
        """What each variable referred to when the burst began, except the block, or the `append` of the block, that it
        holds itself.
        """

    def mention(self, slot: int) -> bool:
        """Code can change the value of this variable. True if the value is a block, which is not touched."""
        value = self[slot]
        if value.__class__ in SCALARS:
            return False
        found = self.reaches.get(slot)
        if found is not None:
            self.book.reach(found)
        if self.book.block_of(value) is not None or self.book.appended_to(value) is not None:
            return True
        self.book.mention(value)
        return False

    def mention_all(self, slots: Iterable[int]) -> bool:
        """Code can change the values of these variables. True if one of the values is a block."""
        found = False
        for slot in slots:
            found = self.mention(slot) or found
        return found

    def expose(self, slot: int) -> None:
        """Code other than a compiled text reads this variable."""
        if self.mention(slot):
            self.book.whole(self[slot])


def mention(scope: Scope, slot: int) -> None:
    """The value of this variable moves to another variable, where it is not known."""
    if scope.__class__ is TrackedScope:
        scope.expose(slot)


def before_next(scope: Scope, slot: int) -> None:
    """A loop is about to take the next item. Iterators that call functions may change what they iterate over."""
    if scope.__class__ is TrackedScope and not _only_reads(scope[slot]):
        scope.expose(slot)


def _only_reads(iterator: Any) -> bool:
    kind = iterator.__class__
    if kind is enumerate or kind is zip:
        inner = iterator.__reduce__()[1]
        return all(_only_reads(item) for item in (inner[:1] if kind is enumerate else inner))
    return kind in _READING


def mention_value(scope: Scope, value: Any) -> None:
    """A value that an iterator gave."""
    if scope.__class__ is TrackedScope:
        scope.book.mention(value)


def mention_item(scope: Scope, container: Any, key: Any) -> None:
    """An activity uses an item of a list of its frame."""
    if scope.__class__ is TrackedScope:
        scope.book.key(container, key)
