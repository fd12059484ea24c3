"""Finds the objects that the items of large blocks share, and makes them cells (`execution.heap.cells`).

`share_blocks` prepares a heap that is written whole. `add_cells` finds the objects that a burst began to share: code
can only share what it reached, so all of them are in touched items, in touched cells or in variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, time
from enum import Enum
from typing import Any

from msgspec import Raw

from holdfast.errors import ValueRefused
from holdfast.execution.heap.blocks import has_packable_keys, plain_tree
from holdfast.execution.heap.cells import linked_first
from holdfast.execution.heap.heap_book import HeapBook
from holdfast.execution.heap.item_codec import CELLS, OBJECTS, WRITTEN_KINDS, Cells, ItemCodec, NotTracked
from holdfast.execution.heap.object_writer import ObjectWriter, UnstorableValue
from holdfast.model.values import SCALARS, is_large

_UNMARKED = (Enum, datetime, time)
"""Types without identity."""


def is_shared(refused: Iterable[Any]) -> bool:
    """Whether one of these large values, which are not blocks, can be a block whose items are cells."""
    return any(map(_may_be_block, refused))


def _may_be_block(value: Any) -> bool:
    return value.__class__ is list or has_packable_keys(value)


class _Region:
    """The objects in the items of blocks, with the number of references to each from these items."""

    def __init__(self, writer: ObjectWriter, is_cell: Callable[[Any], bool], blocks: Iterable[int]) -> None:
        self._writer = writer
        self._is_cell = is_cell
        self._blocks = set(blocks)
        """Ids of blocks. An item that contains a block is not tracked."""
        self.counts: dict[int, int] = {}
        self.objects: dict[int, Any] = {}

    def parts(self, item: Any) -> list[Any]:
        try:
            return self._writer.parts_of(item)[2]
        except (UnstorableValue, ValueRefused):
            raise NotTracked from None

    def walk(self, todo: list[Any]) -> None:
        counts = self.counts
        while todo:
            item = todo.pop()
            if item.__class__ in SCALARS or self._is_cell(item) or isinstance(item, _UNMARKED):
                continue
            key = id(item)
            if key in self._blocks:
                raise NotTracked
            counts[key] = counts.get(key, 0) + 1
            if counts[key] == 1:
                self.objects[key] = item
                todo += self.parts(item)

    def shared(self, frames: list[dict[str, Any]], direct: set[int]) -> dict[int, Any]:
        """Objects that must be cells: those with several references, and those that variables refer to, unless they have a
        path as direct items of a block."""
        found = {key: self.objects[key] for key, times in self.counts.items() if times > 1}
        for key in _referred(frames, self._writer, self._blocks, self.objects):
            if key not in direct:
                found[key] = self.objects[key]
        return found


def _referred(
    frames: list[dict[str, Any]], writer: ObjectWriter, blocks: set[int], objects: dict[int, Any]
) -> Iterable[int]:
    """Objects of the region that variables refer to."""
    seen: set[int] = set()
    for variables in frames:
        todo = list(variables.values())
        while todo:
            item = todo.pop()
            key = id(item)
            if item.__class__ in SCALARS or key in seen or key in blocks:
                continue
            if key in objects:
                yield key
                continue
            seen.add(key)
            try:
                todo += writer.parts_of(item)[2]
            except (UnstorableValue, ValueRefused):
                continue  # this variable is not stored


# -- changes -----------------------------------------------------------------------------------------------------------


def add_cells(book: HeapBook, frames: list[dict[str, Any]], writer: ObjectWriter) -> None:
    """Make the objects that this burst began to share cells. Raises `NotTracked` if an item contains a block."""
    assert book.cells is not None
    pool = book.cells.pool
    blocks = [block for block in book.blocks if block is not None]
    region = _Region(writer, lambda item: pool.key_of(item) is not None, [id(block.value) for block in blocks])
    direct: set[int] = set()
    for block in blocks:
        if block.kind not in WRITTEN_KINDS:
            continue
        items = [block.value[key] for key in block.changed_keys() if block.has(key)]
        if block is pool:
            region.walk([part for item in items for part in region.parts(item)])
        else:
            direct.update(map(id, items))
            region.walk(items)
    number = next(reversed(pool.value), 0)  # numbers ascend
    for item in region.shared(frames, direct).values():
        number += 1
        pool.add(number, item)


# -- everything --------------------------------------------------------------------------------------------------------


def share_blocks(frames: list[dict[str, Any]], writer: ObjectWriter, codec: ItemCodec) -> None:
    """Add the blocks that share objects to the writer, and the block of their cells before them."""
    blocks = _sharing(_large(frames, writer), writer)
    region = _Region(writer, lambda item: False, [id(block) for block in blocks])
    direct: set[int] = set()
    for block in blocks:
        region.walk(list(_items(block))[::-1])  # the last is walked first
        direct.update(map(id, _items(block)))
    shared = region.shared(frames, direct)
    cells = codec.cells = Cells(dict(enumerate(shared.values(), 1)), {key: at for at, key in enumerate(shared, 1)})
    if cells.values:
        packed = {number: codec.pack(CELLS, item) for number, item in cells.values.items()}
        for _ in linked_first(packed, lambda number: packed[number].links):
            pass  # there is no circle
        content = {number: Raw(item.data) for number, item in packed.items()}
        writer.blocks.add(cells.values, cells.numbers, {CELLS: content})
    for block in blocks:
        own = {id(item) for item in _items(block) if item.__class__ not in SCALARS and not isinstance(item, _UNMARKED)}
        writer.blocks.add(block, {id(block), *own} - cells.numbers.keys(), {OBJECTS: _packed(block, codec)})


def _packed(block: Any, codec: ItemCodec) -> Any:
    if block.__class__ is dict:
        return {key: Raw(codec.pack(OBJECTS, item).data) for key, item in block.items()}
    return [Raw(codec.pack(OBJECTS, item).data) for item in block]


def _items(block: Any) -> Iterable[Any]:
    return block.values() if block.__class__ is dict else block


def _large(frames: list[dict[str, Any]], writer: ObjectWriter) -> list[Any]:
    """Large values that variables refer to, and that can be blocks."""
    found: dict[int, Any] = {}
    seen: set[int] = set()
    for variables in frames:
        todo = list(variables.values())
        while todo:
            item = todo.pop()
            if item.__class__ in SCALARS or id(item) in seen:
                continue
            seen.add(id(item))
            if is_large(item) and _may_be_block(item):
                found[id(item)] = item
                continue
            try:
                todo += writer.parts_of(item)[2]
            except (UnstorableValue, ValueRefused):
                continue  # this variable is not stored
    return list(found.values())


def _sharing(large: list[Any], writer: ObjectWriter) -> list[Any]:
    """Blocks that are not plain, or that share objects with other blocks."""
    trees = [plain_tree(value) for value in large]
    owners: dict[int, int] = {}
    chosen = {at for at, tree in enumerate(trees) if tree is None}
    for at, tree in enumerate(trees):
        for key in () if tree is None else tree.identities:
            first = owners.setdefault(key, at)
            if first != at:
                chosen |= {first, at}
    region = _Region(writer, lambda item: False, ())
    todo = list(chosen)
    while todo:
        at = todo.pop()
        region.walk(list(_items(large[at])))
        for key in [key for key in region.objects if key in owners and owners[key] not in chosen]:
            if owners[key] not in chosen:
                chosen.add(owners[key])
                todo.append(owners[key])
    return [large[at] for at in sorted(chosen)]
