"""Heap writer: converts the variables of functions to JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from holdfast.execution.heap.heap_pages import HeapPages
from holdfast.execution.heap.item_codec import CELLS, NotTracked
from holdfast.execution.heap.iterators import is_storable_iterator
from holdfast.execution.heap.object_writer import MAX_DEPTH, ObjectWriter, TooDeep
from holdfast.execution.heap.reader import first_unread
from holdfast.execution.heap.shared_objects import add_cells, is_shared, share_blocks
from holdfast.execution.heap.tracked_block import TrackedBlock
from holdfast.model.values import TypeRegistry, is_large

_DEEP = f"it is nested more than {MAX_DEPTH} levels deep. Store a list of the parts instead of a chain"


def write_heap(
    frames: list[dict[str, Any]],
    types: TypeRegistry,
    references: Mapping[str, Any],
    *,
    trusting: bool = False,
    pages: HeapPages | None = None,
) -> dict[str, Any]:
    """Write frames as `{"frames": […], "lost": […]}`. `lost` names variables that cannot be stored, with the reasons.

    Large variables are written to `blocks`. With `trusting`, blocks that look like JSON are not copied (see `Blocks`).
    With `pages`, large blocks are stored in pages, and blocks that are stored already write only their changes.
    `references` are the modules, classes and functions that definitions refer to, by name.
    """
    if pages is not None and pages.tracks:
        try:
            return _write_changes(frames, types, references, pages, trusting=trusting)
        except (NotTracked, TooDeep):
            pass
    refuses_cells = False
    lost: list[dict[str, str]] = [{} for _ in frames]
    writer = ObjectWriter(types, references, trusting=trusting, number_keys=pages is not None)
    try:
        written = _write(frames, writer, lost)
        if pages is not None and (written.is_entangled or is_shared(writer.refused_values())):
            try:
                return _write_cells(frames, types, references, pages, trusting=trusting)
            except (NotTracked, TooDeep):
                refuses_cells = True
        if not writer.has_loops:
            return written.document if pages is None else _stored(written, pages, refuses_cells=refuses_cells)
    except TooDeep:
        pass  # The second attempt finds the variable.
    document = _write_with_loops(frames, lost, types, references, trusting=trusting)
    return document if pages is None else pages.store(document, (), tracks=False, refuses_cells=refuses_cells)


def _write_changes(
    frames: list[dict[str, Any]],
    types: TypeRegistry,
    references: Mapping[str, Any],
    pages: HeapPages,
    *,
    trusting: bool,
) -> dict[str, Any]:
    """Write the heap without reading the blocks that are stored already. Raises `NotTracked` if that is not possible."""
    book = pages.before
    assert book is not None
    writer = ObjectWriter(types, references, trusting=trusting, number_keys=True)
    book.count_loops()
    if book.cells is not None:
        if any(block is not None and block.whole and (block.links or block.kind == CELLS) for block in book.blocks):
            raise NotTracked
        add_cells(book, frames, writer)
    for block in pages.tracked():
        writer.blocks.track(block, pages.codec)
    written = _write(frames, writer, [{} for _ in frames])
    if writer.has_loops or any(inner in writer.counts for inner in writer.blocks.inner):
        raise NotTracked
    if not book.refuses_cells and (written.is_entangled or is_shared(writer.refused_values())):
        raise NotTracked
    return _stored(written, pages, refuses_cells=book.refuses_cells)


def _write_cells(
    frames: list[dict[str, Any]],
    types: TypeRegistry,
    references: Mapping[str, Any],
    pages: HeapPages,
    *,
    trusting: bool,
) -> dict[str, Any]:
    """Write the heap with shared objects as cells. Raises `NotTracked` if that is not possible."""
    writer = ObjectWriter(types, references, trusting=trusting, number_keys=True)
    share_blocks(frames, writer, pages.codec)
    written = _write(frames, writer, [{} for _ in frames])
    if writer.has_loops or written.is_entangled:
        raise NotTracked
    return _stored(written, pages, refuses_cells=False)


def _stored(written: _Written, pages: HeapPages, *, refuses_cells: bool) -> dict[str, Any]:
    return pages.store(
        written.document,
        written.tracked,
        tracks=not written.is_entangled,
        referred=written.cells,
        refuses_cells=refuses_cells,
    )


def _write_with_loops(
    frames: list[dict[str, Any]],
    lost: list[dict[str, str]],
    types: TypeRegistry,
    references: Mapping[str, Any],
    *,
    trusting: bool,
) -> dict[str, Any]:
    """Write values that contain themselves.

    A loop can be read back only if it closes at an object that exists before its parts. Try it, and leave out the
    variables that fail.
    """
    ordered = [_open_first(frame) for frame in frames]
    while True:
        try:
            writer = ObjectWriter(types, references, trusting=trusting, objects_in_blocks=False)
            written = _write(ordered, writer, lost).document
        except TooDeep as error:
            lost[error.frame][error.name] = _DEEP
            continue
        unread = first_unread(written, types, references)
        if unread is None:
            return written
        lost[unread.frame][unread.name] = _LOOP


_LOOP = (
    "it contains itself through an object that is complete when created: a tuple, a frozen object, the arguments of an "
    "exception, an iterator. Store a key or an index there, or use a list"
)


class _Written(NamedTuple):
    document: dict[str, Any]
    tracked: list[TrackedBlock]
    is_entangled: bool
    """Objects in blocks are shared with other values, and they are not cells."""
    cells: set[int]
    """Cells that variables refer to."""


def _write(frames: list[dict[str, Any]], writer: ObjectWriter, lost: list[dict[str, str]]) -> _Written:
    for reasons, name, value in sorted(_variables(frames, lost), key=_weight):
        reason = writer.count_in(value)
        if reason is not None:
            reasons[name] = reason
    tracked = writer.blocks.settle()
    blocks = writer.blocks.written(writer.emit_item)
    is_entangled = bool(writer.numbers or writer.blocks.addresses)
    written = [_emitted(frame, number, lost[number], writer) for number, frame in enumerate(frames)]
    document: dict[str, Any] = {"frames": written, "lost": lost}
    if blocks:
        document["blocks"] = blocks
    return _Written(document, tracked, is_entangled, writer.blocks.cells_met)


def _emitted(frame: dict[str, Any], number: int, reasons: dict[str, str], writer: ObjectWriter) -> dict[str, Any]:
    found, name = dict[str, Any](), ""
    try:
        for name, value in frame.items():
            if name not in reasons:
                found[name] = writer.emit(value)
    except TooDeep:
        raise TooDeep(number, name) from None
    return found


def _open_first(frame: dict[str, Any]) -> dict[str, Any]:
    """Sort variables whose objects exist before their parts first, so that the others can refer to them."""
    return dict(sorted(frame.items(), key=lambda item: not _is_open(item[1])))


def _is_open(value: Any) -> bool:
    return value.__class__ in (list, dict, set) or dataclasses.is_dataclass(value)


_Variable = tuple[dict[str, str], str, Any]
"""Dict for the reason if it cannot be stored, name, value."""


def _variables(frames: list[dict[str, Any]], lost: list[dict[str, str]]) -> Iterator[_Variable]:
    for frame, reasons in zip(frames, lost, strict=True):
        for name, value in frame.items():
            if name not in reasons:
                yield reasons, name, value


def _weight(variable: _Variable) -> int:
    """Large values first, then iterators: references to a block are then met when the block is known."""
    value = variable[2]
    if is_large(value):
        return 0
    return 1 if is_storable_iterator(value) else 2
