"""From a live instance to its `State`."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import msgspec

from holdfast.execution.activation import Activation
from holdfast.execution.composite import UNSET
from holdfast.execution.frames import FrameShape
from holdfast.execution.heap import write_heap
from holdfast.execution.live import ChildStart, LiveInstance
from holdfast.execution.plan import Plan
from holdfast.execution.record import EffectRequest, argument_data
from holdfast.execution.state import FACTS, ActivationState, BookmarkState, EffectState, ScopeState, State
from holdfast.model import values
from holdfast.model.instance import Bookmark
from holdfast.model.scope import FIRST_SLOT, Scope, Shape

_INT_MAX = 1 << 63
_TEXT_OR_TRUTH = frozenset({str, bool, type(None)})
_facts = attrgetter(*FACTS)


def written(live: LiveInstance) -> State:
    """The state, without the journal."""
    return _Writer(live).state()


class _Writer:
    __slots__ = ("frames", "live", "numbers", "scopes", "types")

    def __init__(self, live: LiveInstance) -> None:
        self.live = live
        self.types = live.plan.types
        self.scopes: list[ScopeState] = []
        self.numbers: dict[int, int] = {}
        self.frames: list[dict[str, Any]] = []
        """Variables of compiled functions: written together, since they may share objects (rule M17)."""

    def state(self) -> State:
        live = self.live
        state = State(live.id, self.scopes, self.activations(), *_facts(live))
        if live.bookmarks:
            state.bookmarks = [self.bookmark(item) for item in live.bookmarks.values()]
        if live.queue:
            state.queue = [(node.key, owner.id, self.scope(scope)) for node, owner, scope in live.queue]
        if live.effects:
            state.effects = [self.effect(item) for item in live.effects.values()]
        if live.child_starts or live.compensations or live.incidents:
            self._add_rare(state)
        self._add_values(state)
        if self.frames:
            state.heap = write_heap(self.frames, self.types, references(live.plan))
        return state

    def _add_rare(self, state: State) -> None:
        live = self.live
        state.child_starts = [self.child_start(item) for item in live.child_starts]
        state.compensations = [
            (item.execution_id, item.name, item.node.key, self.scope(item.scope)) for item in live.compensations
        ]
        state.incidents = [msgspec.to_builtins(item) for item in live.incidents]

    def _add_values(self, state: State) -> None:
        live, value = self.live, self.value
        if live.trigger_payload is not None:
            state.trigger_payload = value(live.trigger_payload)
        if live.results:
            state.results = value(live.results)
        if live.spare_outputs:
            state.spare_outputs = value(live.spare_outputs)
        if live.published:
            state.published = value(live.published)
        if live.properties:
            state.properties = value(live.properties)

    def value(self, value: Any) -> Any:
        kind = value.__class__
        if kind in _TEXT_OR_TRUTH or (kind is int and -_INT_MAX <= value < _INT_MAX):
            return value
        return values.encode(value, self.types)

    def scope(self, scope: Scope) -> int:
        number = self.numbers.get(id(scope))
        if number is not None:
            return number
        parent = self.scope(scope[0]) if scope[0].__class__ is list else None
        number = self.numbers[id(scope)] = len(self.scopes)
        shape: Shape = scope[1]
        defaults = shape.defaults
        found = {
            label: value
            for label, index in shape.labels or slots(shape)
            if (value := scope[index]) is not defaults[index - FIRST_SLOT] and value is not UNSET
        }
        if isinstance(shape, FrameShape):
            self.scopes.append(ScopeState(shape.key, parent, len(self.frames)))
            self.frames.append(found)
            return number
        for label, value in found.items():
            if value.__class__ not in _TEXT_OR_TRUTH:
                found[label] = self.value(value)
        self.scopes.append(ScopeState(shape.key, parent, None, found))
        return number

    def activations(self) -> list[ActivationState]:
        live = self.live
        root, cleanup = live.root, live.cleanup
        written = [self.activation(root, root.data)]
        if root.kids:
            self._add_kids(written, root)
        if cleanup.kids or cleanup.data:
            cleaning = [[below.key, self.scope(scope)] for below, scope in cleanup.data]
            written.append(self.activation(cleanup, cleaning))
            self._add_kids(written, cleanup)
        for top in live.leftovers:
            written.append(self.activation(top, top.data))
            self._add_kids(written, top)
        return written

    def _add_kids(self, written: list[ActivationState], top: Activation) -> None:
        """What lives below, nearest first."""
        level = [top]
        while level:
            below: list[Activation] = []
            for owner in level:
                if owner.kids:
                    below.extend(owner.kids.values())
            written += [self.activation(item, item.data) for item in below]
            level = below

    def activation(self, item: Activation, data: Any) -> ActivationState:
        node, outer, own, owner = item.node, item.outer, item.scope, item.owner
        if item is not self.live.cleanup:
            dump_data = node.hooks.dump
            if dump_data is not None:
                data = dump_data(data)
            elif data is not None:
                data = self.value(data)
        number = self.numbers.get(id(outer))
        return ActivationState(
            item.id,
            node.key,
            self.scope(outer) if number is None else number,
            None if own is outer else self.scope(own),
            None if owner is None else owner.id,
            item.status,
            item.flags,
            item.attempt,
            item.bookmarks,
            data,
        )

    def bookmark(self, item: Bookmark) -> BookmarkState:
        payload, metadata = item.payload, item.metadata
        return BookmarkState(
            item.id,
            item.name,
            item.activity_id,
            item.execution_id,
            bytes.fromhex(item.hash),
            None if payload is None else self.value(payload),
            item.kind,
            item.due,
            item.auto_burn,
            item.auto_complete,
            item.callback,
            self.value(dict(metadata)) if metadata else {},
        )

    def effect(self, item: EffectRequest) -> EffectState:
        inputs, argument = self.value(item.inputs), self.value(argument_data(item.argument))
        return EffectState(item.execution_id, item.activity_id, item.attempt, inputs, item.method, argument)

    def child_start(self, item: ChildStart) -> dict[str, Any]:
        return {**{name: getattr(item, name) for name in ChildStart.__slots__}, "input": self.value(item.input)}


def slots(shape: Shape) -> list[tuple[str, int]]:
    """Every value of a shape with the label it is stored under."""
    if not shape.labels:
        shape.labels = [
            *shape.names.items(),
            *((f"in:{name}", index) for name, index in shape.inputs.items()),
            *((f"out:{name}", index) for name, index in shape.outputs.items()),
        ]
    return shape.labels


def references(plan: Plan) -> dict[str, Any]:
    """Modules, classes and functions that compiled functions of this plan refer to: their variables may hold them."""
    frames = [shape for shape in plan.shapes.values() if isinstance(shape, FrameShape)]
    return {name: found for frame in frames for name, found in frame.references.items()}
