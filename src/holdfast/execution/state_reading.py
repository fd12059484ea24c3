"""From a `State` back to a live instance: with the same continuation, on any machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.errors import InvalidState
from holdfast.execution.activation import Activation
from holdfast.execution.frames import LOST
from holdfast.execution.heap import read_heap
from holdfast.execution.live import ChildStart, Compensation, LiveInstance
from holdfast.execution.plan import Plan
from holdfast.execution.record import EffectRequest, argument_of
from holdfast.execution.state import ActivationState, ScopeState, State
from holdfast.execution.state_writing import references, slots
from holdfast.model import values
from holdfast.model.instance import Incident, JournalEvent
from holdfast.model.scope import Scope
from holdfast.ports import Services

CLEANUP, ROOT = 0, 1
"""Execution ids that every instance has."""

_CONTAINERS = frozenset({dict, list})
"""What may hold typed values; everything else is written as it is."""


def revived(
    state: State, plan: Plan, now: Callable[[], int], services: Services, *, into: LiveInstance | None = None
) -> LiveInstance:
    """The instance that a state describes. Raises `InvalidState` if it does not fit the plan. `into` is made anew in place."""
    try:
        return _Reader(state, plan, now, services, into).live
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise damaged(state.id, error) from error


def damaged(instance_id: Any, error: Exception) -> InvalidState:
    return InvalidState(f"The state of instance {instance_id!r} is damaged: {error!r}.")


class _Reader:
    __slots__ = ("activations", "frames", "live", "plan", "scopes")

    def __init__(
        self, state: State, plan: Plan, now: Callable[[], int], services: Services, into: LiveInstance | None
    ) -> None:
        self.plan = plan
        self.live = _blank(state, plan, now, services)
        if into is not None:
            self.live = into.made_anew(self.live)
        self.frames = read_heap(state.heap, plan.types, references(plan)) if state.heap else []
        self.scopes = self._read_scopes(state.scopes)
        self.activations: dict[int, Activation] = {}
        self._read_activations(state.activations)
        for key, owner, scope in state.queue:
            self.live.queue.append((plan.by_key[key], self.activations[owner], self.scopes[scope]))
        self._read_waits(state)
        self._read_values(state)

    def value(self, data: Any) -> Any:
        return values.decode(data, self.plan.types) if data.__class__ in _CONTAINERS else data

    def _read_scopes(self, stored: list[ScopeState]) -> list[Scope]:
        scopes: list[Scope] = []
        types = self.plan.types
        for item in stored:
            shape = self.plan.shapes[item.shape]
            scope = self.live.open_scope(shape) if item.parent is None else shape.open(scopes[item.parent])
            scopes.append(scope)
            if item.values:
                places = dict(slots(shape))
                for label, data in item.values.items():
                    scope[places[label]] = values.decode(data, types) if data.__class__ in _CONTAINERS else data
            if item.frame is not None:
                places = dict(slots(shape))
                kept, lost = self.frames[item.frame]
                for label, found in kept.items():
                    scope[places[label]] = found
                if lost:
                    scope[places[LOST]] = lost
        return scopes

    def _read_activations(self, stored: list[ActivationState]) -> None:
        activations, scopes, nodes = self.activations, self.scopes, self.plan.by_key
        for item in stored:
            number, node, outer, data = item.id, nodes[item.node], scopes[item.outer], item.data
            owner = None if item.owner is None else activations[item.owner]
            scope = outer if item.scope is None else scopes[item.scope]
            activation = activations[number] = Activation(
                number, node, owner, outer, scope, item.status, item.flags, item.attempt, None, item.bookmarks
            )
            if owner is None:
                self._read_top(activation, data)
                continue
            load_data = node.hooks.load
            if load_data is not None:
                activation.data = load_data(data, activation)
            elif data is not None:
                activation.data = self.value(data)
            if owner.kids is None:
                owner.kids = {number: activation}
            else:
                owner.kids[number] = activation
        root = activations.get(ROOT)
        if root is None:
            raise ValueError("there is no root")
        if CLEANUP not in activations:
            self.live.cleanup = Activation(CLEANUP, root.node, None, root.outer, root.scope, data=[])

    def _read_top(self, activation: Activation, data: Any) -> None:
        if activation.id == CLEANUP:
            self.live.cleanup = activation
            activation.data = [(self.plan.by_key[key], self.scopes[scope]) for key, scope in data or ()]
            return
        activation.data = self.value(data)
        if activation.id == ROOT:
            self.live.root = activation
        else:
            self.live.leftovers.append(activation)

    def _read_waits(self, state: State) -> None:
        live, activations = self.live, self.activations
        for mark in state.bookmarks:
            if mark.metadata:
                mark = replace(mark, payload=self.value(mark.payload), metadata=self.value(mark.metadata))  # noqa: PLW2901
            elif mark.payload is not None:
                mark = replace(mark, payload=self.value(mark.payload))  # noqa: PLW2901
            live.bookmarks[mark.id] = mark
            live.waiters[mark.execution_id] = activations[mark.execution_id]
        for item in state.effects:
            request = EffectRequest(
                execution_id=item.execution_id,
                activity_id=item.activity_id,
                attempt=item.attempt,
                inputs=self.value(item.inputs),
                method=item.method,
                argument=argument_of(self.value(item.argument)),
            )
            live.effects[request.execution_id] = request
            live.new_effects.append(request)
            live.waiters[request.execution_id] = activations[request.execution_id]
        for start in state.child_starts:
            given = dict(start)
            execution_id, reference, child_input = given.pop("execution_id"), given.pop("reference"), given.pop("input")
            live.child_starts.append(ChildStart(execution_id, reference, self.value(child_input), **given))

    def _read_values(self, state: State) -> None:
        live = self.live
        if state.compensations:
            live.compensations = [
                Compensation(execution_id, name, self.plan.by_key[key], self.scopes[scope])
                for execution_id, name, key, scope in state.compensations
            ]
        if state.incidents:
            live.incidents = [msgspec.convert(item, Incident) for item in state.incidents]
        if state.journal:
            live.journal = [
                (JournalEvent(event), index, n, at, self.value(data)) for event, index, n, at, data in state.journal
            ]
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
    """The instance without its activities."""
    outcome = state.outcome
    return LiveInstance(
        plan,
        state.id,
        now,
        services,
        status=state.status,
        created=state.created,
        correlation_id=state.correlation_id,
        name=state.name,
        parent_id=state.parent_id,
        principal=state.principal,
        trace=state.trace,
        flowchart_mode=state.flowchart_mode,
        trigger=state.trigger,
        trigger_open=state.trigger_open,
        sequence=state.sequence,
        waited_at=state.waited_at,
        bookmark_count=state.bookmark_count,
        journal_base=state.journal_base,
        commits=state.commits,
        fault_pending=state.fault_pending,
        stopping=state.stopping,
        outcome=tuple(outcome) if isinstance(outcome, list) else outcome,
    )
