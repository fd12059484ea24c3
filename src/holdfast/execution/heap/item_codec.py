"""Codec of the items of a block: each item is packed alone, so that a change packs only the items it touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from holdfast.model.values import SCALARS, TypeRegistry, decode, encode, tree_of
from holdfast.model.values.encoder import TAG

JSON, TYPED, OBJECTS = "json", "typed", "objects"
"""Kinds of blocks: plain JSON, plain values that need encoding, and objects that the heap writes."""

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode

Write = Callable[[Any], "tuple[Any, set[int]]"]
"""Writes an object that shares nothing: its data, and the ids of the objects in it. Raises `NotTracked` otherwise."""
Read = Callable[[Any], Any]


class NotTracked(Exception):
    """A change cannot be followed item by item: write the whole heap."""


class ItemCodec:
    def __init__(self, types: TypeRegistry, write_object: Write, read_object: Read) -> None:
        self._types = types
        self._write_object = write_object
        self._read_object = read_object

    def pack(self, kind: str, item: Any) -> tuple[bytes, set[int]]:
        """The packed item, and the ids of the objects in it, including itself."""
        is_scalar = item.__class__ in SCALARS
        if kind == OBJECTS and not is_scalar:
            data, ids = self._write_object(item)
            return _pack(data), ids
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
            return _pack(data), ids
        except (OverflowError, UnicodeEncodeError, TypeError):  # an int beyond 64 bits or a lone surrogate
            raise NotTracked from None

    def read(self, kind: str, data: Any) -> Any:
        if kind == JSON:
            return data
        return decode(data, self._types) if kind == TYPED else self._read_object(data)

    def unpack(self, kind: str, packed: bytes) -> Any:
        return self.read(kind, _unpack(packed))

    def content(self, kind: str, content: Any) -> Any:
        """Value of a whole block."""
        if kind == JSON:
            return content
        if content.__class__ is dict:
            if kind == TYPED and TAG in content:  # its keys cannot be packed
                return decode(content, self._types)
            return {key: self.read(kind, data) for key, data in content.items()}
        return [self.read(kind, data) for data in content]


_RAW: frozenset[type] = frozenset({int, bool, type(None), str})
"""Scalars that JSON stores unchanged. Packing refuses the exceptions. Floats may be infinite."""


def entries_of(content: Any) -> list[bytes]:
    """Packed entries of a block: its items, or its keys and values."""
    if content.__class__ is dict:
        return [_pack(key) + _pack(data) for key, data in content.items()]
    return list(map(_pack, content))


def pack_key(key: Any) -> bytes:
    return _pack(key)
