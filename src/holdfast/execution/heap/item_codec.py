"""Codec of the items of a block: each item is packed alone, so that a change packs only the items it touched.

An object that occurs in several items is a *cell* (`execution.heap.cells`). The items hold a link to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from holdfast.model.values import SCALARS, TypeRegistry, decode, encode, tree_of
from holdfast.model.values.encoder import TAG

JSON, TYPED, OBJECTS, CELLS, TEXT = "json", "typed", "objects", "cells", "text"
"""Kinds of blocks: plain JSON, plain values that need encoding, objects that the heap writes, the cells of a heap, and a
list that holds one long text or bytes. The list is not a value of the program.
"""
PLAIN_KINDS = frozenset({JSON, TEXT})
"""Kinds of blocks that are stored as they are."""
TEXT_MIN = 4096
"""Length above which a text or bytes is a block."""
WRITTEN_KINDS = frozenset({OBJECTS, CELLS})
"""Kinds of blocks whose items the heap writes."""
CELL = "cell"
"""Tag of a link to a cell."""

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode

Write = Callable[[Any, "Cells", bool], "tuple[Any, set[int], frozenset[int]]"]
"""Writes an object that shares nothing but cells: its data, the ids of the objects in it, and the cells that it links
to. With True, the object is a cell, and its content is written. Raises `NotTracked` for other objects.
"""
Read = Callable[[Any, Mapping[int, Any]], Any]
"""Reads an object. The mapping has the cells by number."""

NO_LINKS: frozenset[int] = frozenset()


class NotTracked(Exception):
    """A change cannot be followed item by item: write the whole heap."""


class Cells:
    """Cells of a heap, by number, and their numbers, by id()."""

    __slots__ = ("numbers", "values")

    def __init__(self, values: dict[int, Any] | None = None, numbers: dict[int, int] | None = None) -> None:
        self.values: dict[int, Any] = {} if values is None else values
        self.numbers: dict[int, int] = {} if numbers is None else numbers

    def number_of(self, value: Any) -> int | None:
        number = self.numbers.get(id(value))
        return number if number is not None and self.values.get(number) is value else None


class PackedItem(NamedTuple):
    data: bytes
    ids: set[int]
    """Ids of the objects in the item, including itself, without cells."""
    links: frozenset[int] = NO_LINKS
    """Cells that the item links to."""


class ItemCodec:
    def __init__(self, types: TypeRegistry, write_object: Write, read_object: Read) -> None:
        self._types = types
        self._write_object = write_object
        self._read_object = read_object
        self.cells = Cells()

    def _pack_object(self, item: Any, *, is_cell: bool) -> PackedItem:
        """An item of a block of objects, or the content of a cell."""
        cells = self.cells
        number = None if is_cell else cells.number_of(item)
        if number is not None:
            return PackedItem(_pack({TAG: CELL, "id": number}), set(), frozenset((number,)))
        if item.__class__ is list or item.__class__ is dict:
            tree = tree_of(item)
            if tree is not None and tree.is_json:
                inside = tree.identities - {id(item)} if is_cell else tree.identities
                if not any(map(cells.numbers.__contains__, inside)):
                    try:
                        return PackedItem(_pack(item), inside)
                    except (OverflowError, UnicodeEncodeError):
                        pass  # it needs encoding
        data, ids, links = self._write_object(item, cells, is_cell)
        return PackedItem(_pack(data), ids, links)

    def pack(self, kind: str, item: Any) -> PackedItem:
        is_scalar = item.__class__ in SCALARS
        if kind in WRITTEN_KINDS and not is_scalar:
            return self._pack_object(item, is_cell=kind == CELLS)
        if is_scalar:
            data, ids = item if kind == JSON and item.__class__ in _RAW else encode(item, self._types), set()
            if kind == JSON and data.__class__ is dict:
                raise NotTracked
        elif item.__class__ is list or item.__class__ is dict:
            tree = tree_of(item)
            if tree is None or (kind == JSON and not tree.is_json):
                raise NotTracked
            data, ids = item if kind == JSON else encode(item, self._types), tree.identities
        elif kind == TYPED and tree_of([item]) is not None:
            data, ids = encode(item, self._types), set()
        else:
            raise NotTracked
        try:
            return PackedItem(_pack(data), ids)
        except (OverflowError, UnicodeEncodeError, TypeError):  # an int beyond 64 bits or a lone surrogate
            raise NotTracked from None

    def read(self, kind: str, data: Any) -> Any:
        if kind in PLAIN_KINDS:
            return data
        return decode(data, self._types) if kind == TYPED else self._read_object(data, self.cells.values)

    def unpack(self, kind: str, packed: bytes) -> Any:
        return self.read(kind, _unpack(packed))

    def content(self, kind: str, content: Any) -> Any:
        """Value of a whole block."""
        if kind in PLAIN_KINDS:
            return content
        if content.__class__ is dict:
            if kind == TYPED and TAG in content:  # its keys cannot be packed
                return decode(content, self._types)
            return {key: self.read(kind, data) for key, data in content.items()}
        return [self.read(kind, data) for data in content]


_RAW: frozenset[type] = frozenset({int, bool, type(None), str})
"""Scalars that JSON stores unchanged. Packing refuses the exceptions. Floats may be infinite."""


def is_long_text(value: Any) -> bool:
    return (value.__class__ is str or value.__class__ is bytes) and len(value) > TEXT_MIN


def entries_of(content: Any) -> list[bytes]:
    """Packed entries of a block: its items, or its keys and values."""
    if content.__class__ is dict:
        return [_pack(key) + _pack(data) for key, data in content.items()]
    return list(map(_pack, content))


def pack_key(key: Any) -> bytes:
    return _pack(key)
