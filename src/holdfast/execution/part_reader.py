"""Part reader: rebuilds scopes, activations, bookmarks and effects of a live instance from their stored form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.execution.activation import Activation
from holdfast.execution.frames import LOST, FrameShape
from holdfast.execution.heap.book_reader import FrameData
from holdfast.execution.heap.tracked_scope import TrackedScope
from holdfast.execution.lazy_values import LazyScope, LazyValue
from holdfast.execution.live import LiveInstance
from holdfast.execution.part_writer import slots
from holdfast.execution.plan import Plan
from holdfast.execution.record import EffectRequest, argument_of
from holdfast.execution.state import ActivationState, BookmarkState, EffectState, ScopeState
from holdfast.execution.unreadable import VariableUnreadable
from holdfast.model import values
from holdfast.model.instance import Bookmark
from holdfast.model.scope import Scope, Shape

_CONTAINERS = frozenset({dict, list})
"""Types that may contain typed values; all others are stored as they are."""
_NOTHING: Mapping[str, Any] = {}
_NO_FRAME = FrameData({}, {}, {})


class PartReader:
    __slots__ = ("_outermost", "activations", "frames", "live", "plan", "scopes")

    def __init__(self, live: LiveInstance, frames: list[FrameData], outermost: Any = None) -> None:
        """`outermost` is the parent of the outermost scope: a weak reference to the instance. A branch needs none."""
        self._outermost = outermost
        self.live = live
        self.plan: Plan = live.plan
        self.frames = frames
        self.scopes: list[Scope] = []
        """By their number. New ones are added at the end."""
        self.activations: dict[int, Activation] = {}

    def value(self, data: Any) -> Any:
        return values.decode(data, self.plan.types) if data.__class__ in _CONTAINERS else data

    def data(self, data: Any) -> Any:
        """Data of an activity without a `load` hook."""
        if data.__class__ is list:
            data = [item.data() if item.__class__ is LazyValue else item for item in data]
        return self.value(data)

    def read_scopes(self, stored: list[ScopeState]) -> None:
        scopes = self.scopes
        types, shapes = self.plan.types, self.plan.shapes
        outermost = self._outermost
        for item in stored:
            shape, parent, found = shapes[item.shape], item.parent, item.values
            scope = [outermost if parent is None else scopes[parent], shape, *shape.defaults]
            scopes.append(scope)
            if found:
                places = shape.places or places_of(shape)
                label = ""
                try:
                    for label, data in found.items():
                        scope[places[label]] = values.decode(data, types) if type(data) in _CONTAINERS else data
                except Exception as error:
                    raise VariableUnreadable(label, error) from error
                if LazyValue in map(type, found.values()):
                    scope = scopes[-1] = LazyScope(scope, types)
            if item.frame is not None:
                scope = scopes[-1] = self.frame(scope, shape, self.frames[item.frame])
            elif isinstance(shape, FrameShape):  # a frame of scalars in a branch
                scope = scopes[-1] = self.frame(scope, shape, _NO_FRAME)
            if shape.mutable:
                shape.own(scope)  # eager, because these values are usually stored and may be large

    def frame(self, scope: Scope, shape: Shape, frame: FrameData) -> Scope:
        places, book = places_of(shape), self.live.heap
        for label, value in frame.variables.items():
            scope[places[label]] = value
        if frame.lost:
            scope[places[LOST]] = frame.lost
        if book is None or not book.tracks:
            return scope
        if shape.exposed:  # texts in other languages do not report what they use
            book.tracks = False
            return scope
        return TrackedScope(scope, book, {places[label]: reached for label, reached in frame.reaches.items()})

    def read_activations(self, stored: list[ActivationState]) -> None:
        activations, scopes, nodes = self.activations, self.scopes, self.plan.by_key
        for item in stored:
            number, data, inner, owned = item.id, item.data, item.scope, item.owner
            node, outer = nodes[item.node], scopes[item.outer]
            owner = None if owned is None else activations[owned]
            activation = activations[number] = Activation(
                number,
                node,
                owner,
                outer,
                outer if inner is None else scopes[inner],
                item.status,
                item.flags,
                item.attempt,
                None,
                item.bookmarks,
            )
            if owner is None:
                self.read_top(activation, data)
                continue
            load_data = node.hooks.load
            if load_data is not None:
                activation.data = load_data(data, activation, self.plan.types)
            elif data is not None:
                activation.data = self.data(data)
            if owner.kids is None:
                owner.kids = {number: activation}
            else:
                owner.kids[number] = activation

    def read_top(self, activation: Activation, data: Any) -> None:
        """Read an activation without an owner. A branch has none."""
        raise ValueError(f"activation {activation.id} has no owner")

    def read_bookmarks(self, stored: list[BookmarkState]) -> None:
        marks, waiters, activations = self.live.bookmarks, self.live.waiters, self.activations
        for item in stored:
            name, execution_id = item.id, item.execution_id
            marks[name] = Bookmark(
                name,
                item.name,
                item.activity_id,
                execution_id,
                item.kind,
                self.value(item.payload),
                item.hash.hex(),
                item.due,
                item.auto_burn,
                item.auto_complete,
                item.callback,
                self.value(item.metadata) if item.metadata else _NOTHING,
            )
            waiters[execution_id] = activations[execution_id]

    def read_effects(self, stored: list[EffectState]) -> list[EffectRequest]:
        live, activations = self.live, self.activations
        found: list[EffectRequest] = []
        for item in stored:
            n, inputs, argument = item.execution_id, item.inputs, item.argument
            activation = live.waiters[n] = activations[n]
            request = live.effects[n] = EffectRequest(
                n,
                item.activity_id,
                item.attempt,
                activation.data["inputs"] if inputs is None else self.value(inputs),
                item.method,
                None if argument is None else argument_of(self.value(argument)),
            )
            found.append(request)
        return found


def places_of(shape: Shape) -> dict[str, int]:
    """Index in a scope of each stored value, by label."""
    if not shape.places:
        shape.places = dict(slots(shape))
    return shape.places
