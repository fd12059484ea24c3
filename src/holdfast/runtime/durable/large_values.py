"""Values over 4 kB rest in rows of their own, written once and referred to: a commit costs what changed (rule H14).

A state of up to 4 kB is one document, as always. In a larger one, every large part (the items of a loop, a big variable, the
inputs of an effect) is replaced by a reference to its content. The reference is a hash, so a part that did not change needs
no writing, and one that was changed is another value.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.msgpack import Ext

from holdfast.errors import InvalidState, StoreError
from holdfast.execution.state import State
from holdfast.execution.state_document import from_document
from holdfast.execution.state_writing import Array

LARGE = 4096
FEW = 16
"""A container of more parts than this is one value; one of few is looked into."""
DEPTH = 6
REFERENCE = 1
"""The type code of references in MessagePack: nothing that a user stores looks like one."""
SPLIT = 0x92
"""The first byte of a state with references: an array of two. One without is an array of many."""
_SPLIT = bytes([SPLIT])
_NAMED = frozenset({*range(0x80, 0x90), 0xDE, 0xDF})
"""The first byte of a map: a state from before states were arrays."""

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode
_unpack_state = msgspec.msgpack.Decoder(State).decode
_NONE: Mapping[str, bytes] = {}


class StateMoved(StoreError):
    """A value of the state is gone: another node has moved on between two reads. Reading again gives the new state."""

    def __init__(self, instance_id: str) -> None:
        super().__init__(f"Instance {instance_id} changed while it was read. Read it again.")


class Packed(Struct, frozen=True):
    state: bytes
    values: Mapping[str, bytes]
    """Everything that the state refers to."""


def pack_state(state: State | Array) -> Packed:
    """Of a state, or of the arrays that one is written as."""
    whole = _pack(state)
    if len(whole) <= LARGE:
        return Packed(whole, _NONE)
    values: dict[str, bytes] = {}
    parts = state if isinstance(state, tuple) else msgspec.to_builtins(state, builtin_types=(bytes,))
    small = [_split(part, values, DEPTH) for part in parts]
    return Packed(_pack((small, list(values))), values) if values else Packed(whole, _NONE)


def is_split(state: bytes) -> bool:
    """Whether values are needed to read a state."""
    return state[:1] == _SPLIT


def refers_to(state: bytes) -> tuple[str, ...]:
    """The values that are needed to read a state."""
    return tuple(_unpack(state)[1]) if state[:1] == _SPLIT else ()


def unpack_state(data: bytes, values: Mapping[str, bytes]) -> State:
    try:
        if data[0] in _NAMED:
            return from_document(_unpack(data))
        if data[0] != SPLIT:
            return _unpack_state(data)
        whole = _join(_unpack(data)[0], values)
        return from_document(whole) if whole.__class__ is dict else msgspec.convert(whole, State)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InvalidState(f"A stored state is damaged: {error!r}.") from error


def _split(part: Any, values: dict[str, bytes], depth: int) -> Any:
    kind = part.__class__
    if kind is dict or kind is list or kind is tuple:
        if depth and len(part) <= FEW:
            known = len(values)
            part = _split_each(part, values, depth - 1)
            if len(values) > known:
                return part  # What is large in it is out, and a value must not hold references.
        elif depth == DEPTH and kind is not dict:
            return _split_each(part, values, depth - 1)  # Scopes, activations, effects: each for itself.
    elif kind is not str or len(part) <= LARGE // 4:
        return part
    packed = _pack(part)
    if len(packed) <= LARGE:
        return part
    ref = blake2b(packed, digest_size=16).hexdigest()
    values[ref] = packed
    return Ext(REFERENCE, ref.encode())


def _split_each(part: Any, values: dict[str, bytes], depth: int) -> Any:
    if part.__class__ is dict:
        return {name: _split(item, values, depth) for name, item in part.items()}
    return [_split(item, values, depth) for item in part]


def _join(part: Any, values: Mapping[str, bytes]) -> Any:
    kind = part.__class__
    if kind is dict:
        return {name: _join(item, values) for name, item in part.items()}
    if kind is list:
        return [_join(item, values) for item in part]
    if kind is Ext:
        return _unpack(values[bytes(part.data).decode()])
    return part


class ValueCache:
    """Encoded values that were read or written lately, up to so many bytes."""

    def __init__(self, bytes_max: int = 64_000_000) -> None:
        self._max = bytes_max
        self._size = 0
        self._values: OrderedDict[tuple[str, str], bytes] = OrderedDict()

    def get(self, instance_id: str, ref: str) -> bytes | None:
        found = self._values.get((instance_id, ref))
        if found is not None:
            self._values.move_to_end((instance_id, ref))
        return found

    def put(self, instance_id: str, ref: str, data: bytes) -> None:
        if (instance_id, ref) in self._values:
            return
        self._values[instance_id, ref] = data
        self._size += len(data)
        while self._size > self._max and len(self._values) > 1:
            _, old = self._values.popitem(last=False)
            self._size -= len(old)
