"""Heap writer: converts the variables of functions to JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.execution.heap.heap_pages import HeapPages
from holdfast.execution.heap.item_codec import NotTracked
from holdfast.execution.heap.iterators import is_storable_iterator
from holdfast.execution.heap.object_writer import MAX_DEPTH, ObjectWriter, TooDeep
from holdfast.execution.heap.reader import first_unread
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
    lost: list[dict[str, str]] = [{} for _ in frames]
    writer = ObjectWriter(types, references, trusting=trusting, number_keys=pages is not None)
    try:
        written = _write(frames, writer, lost, pages)
        if not writer.has_loops:
            return written
    except TooDeep:
        pass  # The second attempt finds the variable.
    written = _write_with_loops(frames, lost, types, references, trusting=trusting)
    return written if pages is None else pages.store(written, (), tracks=False)


def _write_changes(
    frames: list[dict[str, Any]],
    types: TypeRegistry,
    references: Mapping[str, Any],
    pages: HeapPages,
    *,
    trusting: bool,
) -> dict[str, Any]:
    """Write the heap without reading the blocks that are stored already. Raises `NotTracked` if that is not possible."""
    writer = ObjectWriter(types, references, trusting=trusting, number_keys=True)
    for block in pages.tracked():
        writer.blocks.track(block, pages.codec)
    written = _write(frames, writer, [{} for _ in frames], pages)
    if writer.has_loops:
        raise NotTracked
    return written


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
            written = _write(
                ordered, ObjectWriter(types, references, trusting=trusting, objects_in_blocks=False), lost, None
            )
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


def _write(
    frames: list[dict[str, Any]], writer: ObjectWriter, lost: list[dict[str, str]], pages: HeapPages | None = None
) -> dict[str, Any]:
    for reasons, name, value in sorted(_variables(frames, lost), key=_weight):
        reason = writer.count_in(value)
        if reason is not None:
            reasons[name] = reason
    if any(inner in writer.counts for inner in writer.blocks.inner):
        raise NotTracked
    tracked = writer.blocks.settle()
    blocks = writer.blocks.written(writer.emit_item)
    is_entangled = bool(writer.numbers or writer.blocks.addresses)
    written = [_emitted(frame, number, lost[number], writer) for number, frame in enumerate(frames)]
    document: dict[str, Any] = {"frames": written, "lost": lost}
    if blocks:
        document["blocks"] = blocks
    if pages is None or writer.has_loops:
        return document
    return pages.store(document, tracked, tracks=not is_entangled)


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
