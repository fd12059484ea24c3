"""State reader: rebuilds a live instance from its `State`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from weakref import proxy

import msgspec

from holdfast.errors import InvalidState
from holdfast.execution.activation import Activation
from holdfast.execution.frames import LOST
from holdfast.execution.heap.book_reader import FrameData, read_book
from holdfast.execution.heap.heap_book import HeapBook
from holdfast.execution.heap.tracked_scope import TrackedScope
from holdfast.execution.lazy_values import LazyScope, LazyValue
from holdfast.execution.live import ChildStart, Compensation, LiveInstance
from holdfast.execution.plan import Plan
from holdfast.execution.record import EffectRequest, Interrupted, argument_of
from holdfast.execution.state import ActivationState, BookmarkState, EffectState, ScopeState, State
from holdfast.execution.state_writer import references, slots
from holdfast.execution.unreadable import VariableUnreadable, unreadable
from holdfast.model import values
from holdfast.model.instance import Bookmark, Incident, JournalEvent
from holdfast.model.scope import Scope, Shape
from holdfast.ports import Services

CLEANUP, ROOT = 0, 1
"""Execution ids that every instance has."""

_CONTAINERS = frozenset({dict, list})
"""Types that may contain typed values; all others are stored as they are."""
_NOTHING: Mapping[str, Any] = {}


def read_instance(
    state: State,
    plan: Plan,
    now: Callable[[], int],
    services: Services,
    *,
    into: LiveInstance | None = None,
    heap: HeapBook | None = None,
) -> LiveInstance:
    """The instance that a state describes.

    Raises `StateUnreadable` if the state does not fit the plan or the classes of this process. `into` is overwritten in place.
    `heap` are the large variables that the last commit of this node left in memory; the instance owns them from now on.
    """
    try:
        return _Reader(state, plan, now, services, into, heap).live
    except Exception as error:
        raise unreadable(state.id, error) from error


def damaged(instance_id: Any, error: Exception) -> InvalidState:
    return InvalidState(f"The state of instance {instance_id!r} is damaged: {error!r}.")


class _Reader:
    __slots__ = ("activations", "frames", "live", "plan", "scopes")

    def __init__(
        self,
        state: State,
        plan: Plan,
        now: Callable[[], int],
        services: Services,
        into: LiveInstance | None,
        heap: HeapBook | None,
    ) -> None:
        self.plan = plan
        self.live = live = _blank(state, plan, now, services)
        replaced = None if into is None else into.heap
        if into is not None:
            self.live = live = into.copy_from(live)
        self.frames: list[FrameData] = []
        if state.heap:
            self.frames, live.heap = read_book(state.heap, plan.types, references(plan), heap)
        if replaced is not None:  # the next commit replaces the pages that it counts
            replaced.tracks, live.heap = False, replaced
        self.scopes = self._read_scopes(state.scopes)
        self.activations: dict[int, Activation] = {}
        self._read_activations(state.activations)
        for key, owner, scope in state.queue:
            live.queue.append((plan.by_key[key], self.activations[owner], self.scopes[scope]))
        if state.bookmarks:
            self._read_bookmarks(state.bookmarks)
        if state.effects:
            self._read_effects(state.effects)
        if state.child_starts or state.compensations or state.incidents or state.journal or state.interrupted:
            self._read_rare(state)
        for execution_id, activity_id, attempt in state.ending:
            live.ending[execution_id] = EffectRequest(execution_id, activity_id, attempt)
        self._read_values(state)

    def value(self, data: Any) -> Any:
        return values.decode(data, self.plan.types) if data.__class__ in _CONTAINERS else data

    def _data(self, data: Any) -> Any:
        """Data of an activity without a `load` hook."""
        if data.__class__ is list:
            data = [item.data() if item.__class__ is LazyValue else item for item in data]
        return self.value(data)

    def _read_scopes(self, stored: list[ScopeState]) -> list[Scope]:
        scopes: list[Scope] = []
        types, shapes = self.plan.types, self.plan.shapes
        outermost = proxy(self.live)  # same as `open_scope`
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
                scope = scopes[-1] = self._frame(scope, shape, self.frames[item.frame])
            if shape.mutable:
                shape.own(scope)  # eager, because these values are usually stored and may be large
        return scopes

    def _frame(self, scope: Scope, shape: Shape, frame: FrameData) -> Scope:
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

    def _read_activations(self, stored: list[ActivationState]) -> None:
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
                self._read_top(activation, data)
                continue
            load_data = node.hooks.load
            if load_data is not None:
                activation.data = load_data(data, activation, self.plan.types)
            elif data is not None:
                activation.data = self._data(data)
            if owner.kids is None:
                owner.kids = {number: activation}
            else:
                owner.kids[number] = activation
        root = activations.get(ROOT)
        if root is None:
            raise ValueError("the root activation is missing")
        if CLEANUP not in activations:
            self.live.cleanup = Activation(CLEANUP, root.node, None, root.outer, root.scope, data=[])

    def _read_top(self, activation: Activation, data: Any) -> None:
        if activation.id == CLEANUP:
            self.live.cleanup = activation
            activation.data = [(self.plan.by_key[key], self.scopes[scope]) for key, scope in data or ()]
            return
        activation.data = self._data(data)
        if activation.id == ROOT:
            self.live.root = activation
        else:
            self.live.leftovers = (*self.live.leftovers, activation)

    def _read_bookmarks(self, stored: list[BookmarkState]) -> None:
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

    def _read_effects(self, stored: list[EffectState]) -> None:
        live, activations = self.live, self.activations
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
            live.new_effects.append(request)

    def _read_rare(self, state: State) -> None:
        live = self.live
        live.child_starts = tuple(map(self._child_start, state.child_starts))
        live.compensations = tuple(
            Compensation(execution_id, name, self.plan.by_key[key], self.scopes[scope])
            for execution_id, name, key, scope in state.compensations
        )
        live.incidents = [msgspec.convert(item, Incident) for item in state.incidents]
        kept: dict[int, tuple[Interrupted, ...]] = {}
        for scope, n, key, attempt, inputs, ran in state.interrupted:
            kept[scope] = (*kept.get(scope, ()), Interrupted(n, key, attempt, self.value(inputs), ran))
        live.interrupted = kept
        live.journal = [
            (JournalEvent(event), index, n, at, self.value(data)) for event, index, n, at, data in state.journal
        ]

    def _child_start(self, stored: dict[str, Any]) -> ChildStart:
        given = dict(stored)
        execution_id, reference, child_input = given.pop("execution_id"), given.pop("reference"), given.pop("input")
        return ChildStart(execution_id, reference, self.value(child_input), **given)

    def _read_values(self, state: State) -> None:
        live = self.live
        if state.trigger_payload is not None:
            live.trigger_payload = self.value(state.trigger_payload)
        if state.results:
            live.results = self.value(state.results)
        if state.spare_outputs:
            live.spare_outputs = self.value(state.spare_outputs)
        if state.published:
            live.published = self.value(state.published)
        if state.properties:
            live.properties = self.value(state.properties)


def _blank(state: State, plan: Plan, now: Callable[[], int], services: Services) -> LiveInstance:
    """The instance without its activations."""
    live = LiveInstance(
        plan, state.id, now, services,
        state.status, state.created, state.correlation_id, state.name, state.parent_id, state.principal, state.trace,
        state.flowchart_mode, state.trigger, state.trigger_open, state.sequence, state.waited_at,
        state.bookmark_count, state.journal_base, state.commits, state.fault_pending, state.stopping, state.outcome,
    )  # fmt: skip
    if isinstance(state.outcome, list):
        live.outcome = tuple(state.outcome)
    live.home = state.home
    return live


def places_of(shape: Shape) -> dict[str, int]:
    """Index in a scope of each stored value, by label."""
    if not shape.places:
        shape.places = dict(slots(shape))
    return shape.places
