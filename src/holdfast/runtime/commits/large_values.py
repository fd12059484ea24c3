"""Large values: parts of a state over 4 kB are stored in rows of their own, so a commit writes only changed parts (rule H14).

A state of up to 4 kB is one document. In a larger state, every large part (the items of a loop, a big variable, the inputs of
an effect) is replaced by a reference, the hash of its content. An unchanged part keeps its hash and is not written again; a
changed part is a new value. Variables and the data of activities are decoded when they are first read
(`execution.lazy_values`); all other parts are decoded with the state.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from operator import is_
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.msgpack import Ext
from msgspec.structs import replace

from holdfast.errors import InvalidState, StoreError
from holdfast.execution.heap import HeapPages
from holdfast.execution.lazy_values import LazyValue, joined, lazy_part, reference, references
from holdfast.execution.page_tree import Root, pages_below
from holdfast.execution.pages import PAGE, pack_pages, runs_of
from holdfast.execution.part_writer import Array
from holdfast.execution.state import ActivationState, ScopeState, State
from holdfast.execution.state_document import from_document
from holdfast.model.stored import InstanceKey

INLINE_BYTES_MAX = 4096
"""Size above which a part of the state is stored as a value of its own."""
TAIL_BYTES_MAX = 128
"""Bytes of the end of a long list that stay in the state itself, where every burst writes them again."""
SPLIT_ITEMS_MAX = 16
"""A container with more items is stored as one value; the items of a smaller one are stored separately."""
DEPTH = 6
"""Levels of nesting that are searched for large parts."""
VARIABLES_DEPTH = DEPTH - 2
"""The level of the variables of a scope. Each variable is stored separately, however many there are: some may be lazy."""
SPLIT, PAGED = 0x92, 0x93
"""The first byte of a state with references: an array of two, or of three if variables are in pages. A state without
references is a longer array."""
_SPLIT = frozenset({bytes([SPLIT]), bytes([PAGED])})
_PAGED = bytes([PAGED])
_NAMED = frozenset({*range(0x80, 0x90), 0xDE, 0xDF})
"""First bytes of a map: an earlier format wrote states as maps, not as arrays."""
_VALUES = ScopeState.__struct_fields__.index("values")
_HEAP = State.__struct_fields__.index("heap")
_DATA = ActivationState.__struct_fields__.index("data")

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode
_unpack_state = msgspec.msgpack.Decoder(State).decode
_NONE: Mapping[str, bytes] = {}


class StateMoved(StoreError):
    """A value of the state is gone: another node has committed between two reads. Reading again gives the new state."""

    def __init__(self, instance_id: str) -> None:
        super().__init__(f"Instance {instance_id} changed while it was read. Read it again.")


class Packed(Struct, frozen=True):
    state: bytes
    values: Mapping[str, bytes]
    """Everything that the state refers to, except pages."""
    pages: HeapPages | None = None
    """Pages of large variables, or None if there are none and there were none."""


def pack_state(state: State | Array, lazy: Sequence[LazyValue] = (), pages: HeapPages | None = None) -> Packed:
    """Encode a state, or the arrays that a state is written as. `lazy` are its values that stay as they are stored,
    `pages` the pages of its large variables."""
    values: dict[str, bytes] = {}
    if pages is not None and pages.roots:
        assert isinstance(state, tuple)
        small = [_split(part, values, DEPTH) for part in state[:_HEAP]]
        small += [_split_heap(state[_HEAP], values), *(_split(part, values, DEPTH) for part in state[_HEAP + 1 :])]
        roots = [(height, bytes.fromhex(ref)) for height, ref in pages.roots]
        return Packed(_pack((small, list(values), roots)), values, pages)
    packed = _pack_without_pages(state, lazy, values)
    return packed if pages is None or pages.before is None else replace(packed, pages=pages)


def _pack_without_pages(state: State | Array, lazy: Sequence[LazyValue], values: dict[str, bytes]) -> Packed:
    if not lazy:
        whole = _pack(state)
        if len(whole) <= INLINE_BYTES_MAX:
            return Packed(whole, _NONE)
        parts = state if isinstance(state, tuple) else msgspec.to_builtins(state, builtin_types=(bytes,))
        small = [_split(part, values, DEPTH) for part in parts]
        return Packed(_pack((small, list(values))), values) if values else Packed(whole, _NONE)
    assert isinstance(state, tuple)
    small = [_split(part, values, DEPTH) for part in state]
    return Packed(_pack((small, list(values))), values)


def is_split(state: bytes) -> bool:
    """Whether values are needed to read a state."""
    return state[:1] in _SPLIT


def refers_to(state: bytes) -> tuple[str, ...]:
    """The values that are needed to read a state, except pages."""
    return tuple(_unpack(state)[1]) if state[:1] in _SPLIT else ()


def roots_of(state: bytes) -> list[Root]:
    """The page trees of a state's large variables."""
    return [(height, ref.hex()) for height, ref in _unpack(state)[2]] if state[:1] == _PAGED else []


def all_refs(state: bytes, values: Mapping[str, bytes]) -> list[str]:
    """All values that a state refers to, pages included."""
    found = list(refers_to(state))
    level = dict.fromkeys(roots_of(state))
    while level:
        found += [ref for _, ref in level]
        level = dict.fromkeys(
            (height - 1, below) for height, ref in level if height for below in pages_below(values[ref])
        )
    return found


def unpack_state(data: bytes, values: Mapping[str, bytes]) -> State:
    try:
        if data[0] in _NAMED:
            return from_document(_unpack(data))
        if data[0] != SPLIT and data[0] != PAGED:
            return _unpack_state(data)
        parts = _unpack(data)[0]
        if parts.__class__ is dict:
            return from_document(joined(parts, values))
        return msgspec.convert(_in_place(parts, values), State)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InvalidState(f"A stored state is damaged: {error!r}.") from error


def _split(part: Any, values: dict[str, bytes], depth: int) -> Any:
    kind = part.__class__
    if kind is LazyValue:
        values.update(part.stored)
        return part.part
    if kind is dict or kind is list or kind is tuple:
        if depth and (len(part) <= SPLIT_ITEMS_MAX or (depth == VARIABLES_DEPTH and kind is dict)):
            found = _split_each(part, values, depth - 1)
            if found is not part:
                return found  # Its large items are values now, and a value must not hold references.
        elif depth == DEPTH and kind is not dict:
            return _split_each(part, values, depth - 1)  # Scopes, activations and effects are split one by one.
    elif kind is not str or len(part) <= INLINE_BYTES_MAX // 4:
        return part
    packed = _pack(part)
    if len(packed) <= INLINE_BYTES_MAX:
        return part
    return _split_list(part, values) if kind is list and len(part) > PAGE else reference(_put(packed, values))


def _split_heap(heap: dict[str, Any], values: dict[str, bytes]) -> dict[str, Any]:
    """A heap with blocks in pages. The blocks stay in the state: a value must not hold references."""
    others: dict[str, Any] = _split_each({name: heap[name] for name in heap if name != "blocks"}, values, DEPTH - 1)
    return {**others, "blocks": [_split(block, values, DEPTH - 2) for block in heap["blocks"]]}


def _split_list(items: list[Any], values: dict[str, bytes]) -> Any:
    """Split a long list into runs of pages: when the list grows, the stored runs at its beginning stay the same."""
    runs, rest = runs_of(items, INLINE_BYTES_MAX)
    if len(_pack(rest)) > TAIL_BYTES_MAX:
        runs, rest = [*runs, pack_pages(rest)], []
    refs = [_put(run, values) for run in runs]
    return reference(refs[0]) if len(refs) == 1 and not rest else references(refs, rest)


def _put(packed: bytes, values: dict[str, bytes]) -> str:
    ref = blake2b(packed, digest_size=16).hexdigest()
    values[ref] = packed
    return ref


def _split_each(part: Any, values: dict[str, bytes], depth: int) -> Any:
    """The part with references to its large items; the same object if no item is large."""
    items = part.values() if part.__class__ is dict else part
    found = [_split(item, values, depth) for item in items]
    if all(map(is_, found, items)):
        return part
    return dict(zip(part, found, strict=True)) if part.__class__ is dict else found


def _in_place(parts: list[Any], values: Mapping[str, bytes]) -> list[Any]:
    identity, scopes, activations, *others = parts
    scopes, activations = _present(scopes, values), _present(activations, values)
    for scope in scopes:
        if len(scope) > _VALUES:
            found = scope[_VALUES]
            # Many small variables that are large together are one value: none of them is lazy.
            scope[_VALUES] = (
                {name: lazy_part(item, values) for name, item in found.items()}
                if found.__class__ is dict
                else joined(found, values)
            )
    for activation in activations:
        if len(activation) > _DATA:
            data = activation[_DATA]
            is_list = data.__class__ is list
            activation[_DATA] = [lazy_part(item, values) for item in data] if is_list else joined(data, values)
    return [identity, scopes, activations, *joined(others, values)]


def _present(parts: Any, values: Mapping[str, bytes]) -> list[Any]:
    """Scopes or activations as lists. A list that is large only as a whole was replaced by one reference."""
    found: list[Any] = joined(parts, values) if parts.__class__ is Ext else parts
    return [joined(part, values) if part.__class__ is Ext else part for part in found]


class ValueCache:
    """Encoded values that were read or written recently, up to `bytes_max` bytes."""

    def __init__(self, bytes_max: int = 64_000_000) -> None:
        self._max = bytes_max
        self._size = 0
        self._values: OrderedDict[tuple[InstanceKey, str], bytes] = OrderedDict()

    def get(self, key: InstanceKey, ref: str) -> bytes | None:
        found = self._values.get((key, ref))
        if found is not None:
            self._values.move_to_end((key, ref))
        return found

    def put(self, key: InstanceKey, ref: str, data: bytes) -> None:
        if (key, ref) in self._values:
            return
        self._values[key, ref] = data
        self._size += len(data)
        while self._size > self._max and len(self._values) > 1:
            _, old = self._values.popitem(last=False)
            self._size -= len(old)
