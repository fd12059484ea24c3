"""Reads a heap whose large blocks are in pages, and opens the book that tracks them during the burst."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.execution.heap.cells import CellLinks, links_in, read_cells
from holdfast.execution.heap.heap_book import WHOLE, HeapBook, Reach
from holdfast.execution.heap.item_codec import CELLS, OBJECTS, ItemCodec
from holdfast.execution.heap.object_writer import object_codec
from holdfast.execution.heap.paged_block import PagedBlock
from holdfast.execution.heap.reader import read_heap, read_tracked
from holdfast.execution.heap.tracked_block import TrackedBlock
from holdfast.model.values import TypeRegistry

_LINKING = frozenset({dict, list})


class FrameData(NamedTuple):
    variables: dict[str, Any]
    lost: dict[str, str]
    """Reasons for variables that could not be stored."""
    reaches: Mapping[str, list[Reach]]
    """Items and blocks that each variable refers to."""


def read_book(
    document: Mapping[str, Any], types: TypeRegistry, references: Mapping[str, Any], book: HeapBook | None
) -> tuple[list[FrameData], HeapBook | None]:
    """The frames and the book of their blocks. `book` is the book that the last commit of this node left, if any."""
    written = document.get("blocks", ())
    paged = [content if content.__class__ is PagedBlock else None for block in written for content in block.values()]
    if not any(paged):
        return [FrameData(*found, {}) for found in read_heap(document, types, references)], None
    codec = object_codec(types, references)
    if document.get("entangled"):
        refs = Counter(ref for item in paged if item is not None for ref in item.load()[0].refs())
        frames = [FrameData(*found, {}) for found in read_heap(document, types, references)]
        return frames, HeapBook([None] * len(paged), refs, codec, tracks=False)
    is_cold = book is None
    if book is None:
        book = HeapBook([None] * len(paged), Counter(), codec, tracks=True)
    values: list[Any] = []
    book.use(codec)
    for number, (block, stored) in enumerate(zip(written, paged, strict=True)):
        known = book.blocks[number]
        if known is None and stored is not None:
            known = book.blocks[number] = _tracked(block, stored, codec)
            if CELLS in block:
                book.cells = CellLinks(known)
                book.use(codec)
            if book.cells is not None:
                book.cells.add_all(known)
            if is_cold:
                book.refs.update(known.tree.refs())
        values.append(_inline(block, codec) if known is None else known.value)
    book.fresh = {}
    book.begin()
    frames = [FrameData(*found) for found in read_tracked(document, types, references, values, book.dict_iterator)]
    for frame in frames:
        for reached in frame.reaches.values():
            for at, key in reached:
                if key is WHOLE:
                    book.hold(at)
                else:
                    book.refer(at, key)
    return frames, book


def _tracked(block: Mapping[str, Any], stored: PagedBlock, codec: ItemCodec) -> TrackedBlock:
    (kind,) = block
    tree, content = stored.load()
    if kind == CELLS:
        cells = codec.cells.values
        own = read_cells(content, lambda data: codec.read(CELLS, data), into=cells)
        return TrackedBlock(kind, tree, stored.log, cells, dict(own))
    value = codec.content(kind, content)
    if kind != OBJECTS or not codec.cells.values:
        return TrackedBlock(kind, tree, stored.log, value)
    pairs = content.items() if content.__class__ is dict else enumerate(content)
    found = {key: links for key, data in pairs if data.__class__ in _LINKING and (links := frozenset(links_in(data)))}
    return TrackedBlock(kind, tree, stored.log, value, found, codec.cells.numbers)


def _inline(block: Mapping[str, Any], codec: ItemCodec) -> Any:
    ((kind, content),) = block.items()
    return codec.content(kind, content)
