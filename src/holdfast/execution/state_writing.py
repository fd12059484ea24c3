"""From a live instance to its `State`."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.execution.activation import Activation
from holdfast.execution.composite import UNSET
from holdfast.execution.frames import FrameShape
from holdfast.execution.heap import write_heap
from holdfast.execution.live import ChildStart, LiveInstance
from holdfast.execution.plan import Plan
from holdfast.execution.record import EffectRequest, argument_data
from holdfast.execution.state import ActivationState, EffectState, ScopeState, State
from holdfast.model import values
from holdfast.model.instance import Bookmark
from holdfast.model.scope import FIRST_SLOT, Scope, Shape

_INT_MAX = 1 << 63
_TEXT_OR_TRUTH = frozenset({str, bool, type(None)})


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
        root, cleanup = live.root, live.cleanup
        everyone = [root, *root.descendants()] if root.kids else [root]
        if cleanup.kids or cleanup.data:
            everyone += (cleanup, *cleanup.descendants())
        for top in live.leftovers:
            everyone += (top, *top.descendants())
        state = State(
            id=live.id,
            status=live.status,
            correlation_id=live.correlation_id,
            name=live.name,
            parent_id=live.parent_id,
            principal=live.principal,
            trace=live.trace,
            flowchart_mode=live.flowchart_mode,
            trigger=live.trigger,
            trigger_open=live.trigger_open,
            sequence=live.sequence,
            waited_at=live.waited_at,
            bookmark_count=live.bookmark_count,
            journal_base=live.journal_base,
            commits=live.commits,
            fault_pending=live.fault_pending,
            stopping=live.stopping,
            created=live.created,
            outcome=live.outcome,
            scopes=self.scopes,
            activations=[self.activation(item) for item in everyone],
        )
        self._add_waits(state)
        self._add_values(state)
        if self.frames:
            state.heap = write_heap(self.frames, self.types, references(live.plan))
        return state

    def _add_waits(self, state: State) -> None:
        live = self.live
        if live.queue:
            state.queue = [(node.key, owner.id, self.scope(scope)) for node, owner, scope in live.queue]
        if live.bookmarks:
            state.bookmarks = [self.bookmark(item) for item in live.bookmarks.values()]
        if live.effects:
            state.effects = [self.effect(item) for item in live.effects.values()]
        if live.child_starts:
            state.child_starts = [self.child_start(item) for item in live.child_starts]
        if live.compensations:
            state.compensations = [
                (item.execution_id, item.name, item.node.key, self.scope(item.scope)) for item in live.compensations
            ]
        if live.incidents:
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
        entry = ScopeState(shape.key, parent)
        self.scopes.append(entry)
        defaults = shape.defaults
        found = {
            label: value
            for label, index in slots(shape)
            if (value := scope[index]) is not UNSET and value is not defaults[index - FIRST_SLOT]
        }
        if isinstance(shape, FrameShape):
            entry.frame = len(self.frames)
            self.frames.append(found)
        else:
            for label, value in found.items():
                if value.__class__ not in _TEXT_OR_TRUTH:
                    found[label] = self.value(value)
            entry.values = found
        return number

    def activation(self, item: Activation) -> ActivationState:
        node, outer, owner, data = item.node, item.outer, item.owner, item.data
        dump_data = node.hooks.dump
        if item is self.live.cleanup:
            data = [[below.key, self.scope(scope)] for below, scope in data]
        elif dump_data is not None:
            data = dump_data(data)
        elif data is not None:
            data = self.value(data)
        return ActivationState(
            item.id,
            node.key,
            self.scope(outer),
            None if item.scope is outer else self.scope(item.scope),
            None if owner is None else owner.id,
            item.status,
            item.flags,
            item.attempt,
            item.bookmarks,
            data,
        )

    def bookmark(self, item: Bookmark) -> Bookmark:
        """With its values as they are written."""
        if item.metadata:
            return replace(item, payload=self.value(item.payload), metadata=self.value(dict(item.metadata)))
        return item if item.payload is None else replace(item, payload=self.value(item.payload))

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
