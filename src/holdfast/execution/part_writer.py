"""Part writer: converts scopes, activations, bookmarks and effects of a live instance to their stored form."""

from __future__ import annotations

from typing import Any
from weakref import ProxyType

from msgspec import Struct

from holdfast.execution.activation import Activation
from holdfast.execution.composite import UNSET
from holdfast.execution.frames import FrameShape
from holdfast.execution.lazy_values import LazyScope, LazyValue
from holdfast.execution.live import LiveInstance
from holdfast.execution.record import EffectRequest, argument_data
from holdfast.model import values
from holdfast.model.instance import Bookmark, BookmarkKind
from holdfast.model.scope import FIRST_SLOT, Scope, Shape
from holdfast.model.values import TypeRegistry

_INT_MAX = 1 << 63
_ACTIVITY = BookmarkKind.ACTIVITY
_METHOD = "execute"

Array = tuple[Any, ...]
"""A `State` or a part of one. Trailing fields at their defaults are omitted."""


class PartWriter(Struct, eq=False):
    live: LiveInstance
    types: TypeRegistry
    lazy: list[LazyValue] | None
    trusting: bool
    scopes: list[Array] = []
    numbers: dict[int, int] = {}
    """Number of each scope, by id()."""
    frames: list[dict[str, Any]] = []
    """Variables of compiled functions, written together because they may share objects (rule M17)."""

    def value(self, value: Any) -> Any:
        return value if is_plain(value) else self.encoded(value)

    def encoded(self, value: Any) -> Any:
        if value.__class__ is LazyValue:
            assert self.lazy is not None
            self.lazy.append(value)
            return value
        if self.trusting and values.is_large(value):
            tree = values.tree_of(value)
            if tree is not None and tree.is_json:
                return value
        return values.encode(value, self.types)

    def scope(self, scope: Scope) -> int:
        number = self.numbers.get(id(scope))
        if number is not None:
            return number
        above = scope[0]  # isinstance() on a proxy would query the instance
        parent = None if type(above) is ProxyType or not isinstance(above, list) else self.scope(above)
        number = self.numbers[id(scope)] = len(self.scopes)
        shape: Shape = scope[1]
        if isinstance(shape, FrameShape):
            self.scopes.append(self.frame(scope, shape, parent))
            return number
        found: dict[str, Any] = {}
        defaults = shape.defaults
        is_lazy = scope.__class__ is LazyScope and self.lazy is not None
        held = list.copy(scope) if is_lazy else scope  # a plain copy: reading it decodes nothing
        for label, index in shape.labels or slots(shape):
            value = held[index]
            if value is defaults[index - FIRST_SLOT] or value is UNSET:
                continue
            if (type(value) is int and -1 < value < _INT_MAX) or is_plain(value):  # fast path for counters
                found[label] = value
            else:
                found[label] = self.encoded(value)
        self.scopes.append((shape.key, parent, None, found))
        return number

    def frame(self, scope: Scope, shape: FrameShape, parent: int | None) -> Array:
        """The scope of a compiled function."""
        self.frames.append({label: value for label, index in slots(shape) if (value := scope[index]) is not UNSET})
        return shape.key, parent, len(self.frames) - 1

    def activations_of(self, everyone: list[Activation]) -> list[Array]:
        """The activations in this order, owners before the activations that they own."""
        written: list[Array] = []
        number, known = 0, None  # most share the scope of the previous activation
        for item in everyone:
            node, outer, inner, owner, data = item.node, item.outer, item.scope, item.owner, item.data
            if data is not None or node.hooks.dump is not None:
                data = self.data(item)
            if outer is not known:
                number, known = self.scope(outer), outer
            own = None if inner is outer else self.scope(inner)
            above = None if owner is None else owner.id
            marks, status, flags, attempt = item.bookmarks, item.status, item.flags, item.attempt
            if marks or status or flags or attempt != 1 or data is not None:
                written.append((item.id, node.key, number, own, above, status, flags, attempt, marks, data))
            else:
                written.append((item.id, node.key, number, own, above))
        return written

    def data(self, item: Activation) -> Any:
        if item is self.live.cleanup:
            return [[below.key, self.scope(scope)] for below, scope in item.data]
        dump_data = item.node.hooks.dump
        if dump_data is None:
            return self.value(item.data)
        found = dump_data(item.data, self.types)
        return [self._at_rest(part) for part in found] if found.__class__ is list else found

    def _at_rest(self, part: Any) -> Any:
        """Part of an activity's dumped data: JSON or a lazy value."""
        if part.__class__ is not LazyValue:
            return part
        return part.data() if self.lazy is None else self.encoded(part)

    def bookmark(self, item: Bookmark) -> Array:
        payload, metadata = item.payload, item.metadata
        place: Array = (item.id, item.name, item.activity_id, item.execution_id, bytes.fromhex(item.hash))
        if payload is not None:
            payload = self.value(payload)
        if item.kind is _ACTIVITY and item.due is None and item.auto_burn and not item.callback and not metadata:
            return (*place, payload) if item.auto_complete else (*place, payload, _ACTIVITY, None, True, False)
        return (
            *place,
            payload,
            item.kind,
            item.due,
            item.auto_burn,
            item.auto_complete,
            item.callback,
            self.value(dict(metadata)) if metadata else {},
        )

    def effect(self, item: EffectRequest) -> Array:
        owner = self.live.waiters.get(item.execution_id)
        kept = owner.data if owner is not None and owner.node.hooks.dump is None else None
        known = kept.__class__ is dict and kept.get("inputs") is item.inputs  # already written with its owner
        inputs = None if known else self.value(item.inputs)
        place: Array = (item.execution_id, item.activity_id, item.attempt, inputs)
        if item.argument is None and item.method == _METHOD:
            return place
        return (*place, item.method, self.value(argument_data(item.argument)))


def is_plain(value: Any) -> bool:
    """Whether the value is stored as it is. Non-ASCII text may contain lone surrogates, which need encoding."""
    kind = type(value)
    if kind is str:
        return bool(value.isascii())
    return value is None or kind is bool or (kind is int and -_INT_MAX <= value < _INT_MAX)


def slots(shape: Shape) -> list[tuple[str, int]]:
    """Slots of a shape with the labels of their stored values."""
    if not shape.labels:
        shape.labels = [
            *shape.names.items(),
            *((f"in:{name}", index) for name, index in shape.inputs.items()),
            *((f"out:{name}", index) for name, index in shape.outputs.items()),
        ]
    return shape.labels
