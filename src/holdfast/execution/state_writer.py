"""State writer: converts a live instance to its stored form."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import ProxyType

import msgspec
from msgspec import Struct

from holdfast.execution.activation import Activation
from holdfast.execution.composite import UNSET
from holdfast.execution.frames import FrameShape
from holdfast.execution.heap import HeapPages, write_heap
from holdfast.execution.lazy_values import LazyScope, LazyValue
from holdfast.execution.live import ChildStart, LiveInstance
from holdfast.execution.plan import Plan
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


def write_state(
    live: LiveInstance,
    lazy: list[LazyValue] | None = None,
    *,
    trusting: bool = True,
    pages: HeapPages | None = None,
) -> Array:
    """The state without the journal, in the form of a `State`.

    It is written as arrays directly, because intermediate objects would cost more than the writing itself.

    Without a list for lazy values, they are decoded. With a list, they are added to it and appear in the arrays
    unchanged. Large values that look like JSON then appear without a copy, so the caller must pack them at once. If
    packing refuses such a value (`values.Tree` says which), write again with `trusting=False`. With `pages`, the large
    variables of functions are stored in pages.
    """
    return _Writer(live, live.plan.types, lazy, trusting and lazy is not None, pages).state()


class _Writer(Struct, eq=False):
    live: LiveInstance
    types: TypeRegistry
    lazy: list[LazyValue] | None
    trusting: bool
    pages: HeapPages | None = None
    scopes: list[Array] = []
    numbers: dict[int, int] = {}
    frames: list[dict[str, Any]] = []
    """Variables of compiled functions, written together because they may share objects (rule M17)."""

    def state(self) -> Array:
        live = self.live
        activations = self.activations()
        begin: Array = (
            live.id, self.scopes, activations,
            live.status, live.created, live.correlation_id, live.name, live.parent_id, live.principal, live.trace,
            live.flowchart_mode, live.trigger, live.trigger_open, live.sequence, live.waited_at, live.bookmark_count,
            live.journal_base, live.commits, live.fault_pending, live.stopping, live.outcome,
        )  # fmt: skip
        has_rest = (
            self.frames or live.results or live.spare_outputs or live.published or live.properties
            or live.child_starts or live.compensations or live.incidents or live.trigger_payload is not None
            or live.home is not None or live.interrupted or live.ending
        )  # fmt: skip
        if not has_rest and not live.bookmarks and not live.effects and not live.queue:
            return begin
        marks = [self.bookmark(item) for item in live.bookmarks.values()] if live.bookmarks else []
        queue = [(node.key, owner.id, self.scope(scope)) for node, owner, scope in live.queue] if live.queue else []
        if not has_rest and not live.effects:
            return (*begin, marks, queue)
        effects = [self.effect(item) for item in live.effects.values()]
        return (*begin, marks, queue, effects, *self._rest()) if has_rest else (*begin, marks, queue, effects)

    def _rest(self) -> Array:
        """Fields that most states do not have, from `trigger_payload` on. The journal is not written."""
        live, value = self.live, self.value
        starts = [self.child_start(item) for item in live.child_starts]
        compensations = [
            (item.execution_id, item.name, item.node.key, self.scope(item.scope)) for item in live.compensations
        ]
        interrupted = [
            (scope, item.execution_id, item.activity_id, item.attempt, value(item.inputs), item.ran)
            for scope, found in live.interrupted.items()
            for item in found
        ]
        ending = [(item.execution_id, item.activity_id, item.attempt) for item in live.ending.values()]
        rest: Array = (
            value(live.trigger_payload),
            value(live.results),
            value(live.spare_outputs) if live.spare_outputs else {},
            value(live.published),
            value(live.properties) if live.properties else {},
            self.heap() if self.frames else None,
            starts,
            compensations,
            [msgspec.to_builtins(item) for item in live.incidents],
        )
        rare = (live.home, interrupted, ending)
        return (*rest, [], *rare) if any(rare) else rest

    def heap(self) -> dict[str, Any]:
        return write_heap(self.frames, self.types, references(self.live.plan), trusting=self.trusting, pages=self.pages)

    def value(self, value: Any) -> Any:
        return value if _is_plain(value) else self.encoded(value)

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
            self.scopes.append((shape.key, parent, len(self.frames)))
            self.frames.append({label: value for label, index in slots(shape) if (value := scope[index]) is not UNSET})
            return number
        found: dict[str, Any] = {}
        defaults = shape.defaults
        is_lazy = scope.__class__ is LazyScope and self.lazy is not None
        held = list.copy(scope) if is_lazy else scope  # a plain copy: reading it decodes nothing
        for label, index in shape.labels or slots(shape):
            value = held[index]
            if value is defaults[index - FIRST_SLOT] or value is UNSET:
                continue
            if (type(value) is int and -1 < value < _INT_MAX) or _is_plain(value):  # fast path for counters
                found[label] = value
            else:
                found[label] = self.encoded(value)
        self.scopes.append((shape.key, parent, None, found))
        return number

    def activations(self) -> list[Array]:
        live = self.live
        written: list[Array] = []
        number, known = 0, None  # most share the scope of the previous activation
        everyone = [live.root]
        cleanup = live.cleanup
        if cleanup.kids or cleanup.data:
            everyone.append(cleanup)
        if live.leftovers:
            everyone += live.leftovers
        for item in everyone:  # grows while it is iterated: kids follow their owners
            if item.kids:
                everyone += item.kids.values()
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

    def child_start(self, item: ChildStart) -> dict[str, Any]:
        return {**{name: getattr(item, name) for name in ChildStart.__slots__}, "input": self.value(item.input)}


def _is_plain(value: Any) -> bool:
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


class Frames(NamedTuple):
    """Frames of the compiled functions of a plan."""

    exist: bool
    references: dict[str, Any]
    """Modules, classes and functions that these functions use. Their variables may hold them."""


def frames_of(plan: Plan) -> Frames:
    found: Frames | None = plan.frames
    if found is None:
        shapes = [shape for shape in plan.shapes.values() if isinstance(shape, FrameShape)]
        references = {name: item for shape in shapes for name, item in shape.references.items()}
        found = plan.frames = Frames(bool(shapes), references)
    return found


def references(plan: Plan) -> dict[str, Any]:
    return frames_of(plan).references
