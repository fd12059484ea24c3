"""State reader: rebuilds a live instance from its `State`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import proxy

import msgspec

from holdfast.errors import InvalidState
from holdfast.execution.activation import Activation
from holdfast.execution.branches.branch_reader import open_branches
from holdfast.execution.heap.book_reader import FrameData, read_book
from holdfast.execution.heap.heap_book import HeapBook
from holdfast.execution.live import ChildStart, Compensation, LiveInstance
from holdfast.execution.part_reader import PartReader
from holdfast.execution.plan import Plan
from holdfast.execution.record import EffectRequest, Interrupted
from holdfast.execution.state import State
from holdfast.execution.state_writer import references
from holdfast.execution.unreadable import unreadable
from holdfast.model.instance import Incident, JournalEvent
from holdfast.ports import Services

CLEANUP, ROOT = 0, 1
"""Execution ids that every instance has."""


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
        live = _blank(state, plan, now, services)
        replaced = None if into is None else into.heap
        if into is not None:
            live = into.copy_from(live)
        frames: list[FrameData] = []
        if state.heap:
            frames, live.heap = read_book(state.heap, plan.types, references(plan), heap)
        if replaced is not None:  # the next commit replaces the pages that it counts
            replaced.tracks, live.heap = False, replaced
        _StateReader(live, frames, proxy(live)).read(state)  # same as `open_scope`
        if state.branches:
            open_branches(live, frames[state.branches - 1])
        return live
    except Exception as error:
        raise unreadable(state.id, error) from error


def damaged(instance_id: Any, error: Exception) -> InvalidState:
    return InvalidState(f"The state of instance {instance_id!r} is damaged: {error!r}.")


class _StateReader(PartReader):
    __slots__ = ()

    def read(self, state: State) -> None:
        live = self.live
        self.read_scopes(state.scopes)
        self.read_activations(state.activations)
        self._complete_tops()
        for key, owner, scope in state.queue:
            live.queue.append((self.plan.by_key[key], self.activations[owner], self.scopes[scope]))
        if state.bookmarks:
            self.read_bookmarks(state.bookmarks)
        if state.effects:
            live.new_effects += self.read_effects(state.effects)
        if state.child_starts or state.compensations or state.incidents or state.journal or state.interrupted:
            self._read_rare(state)
        for execution_id, activity_id, attempt in state.ending:
            live.ending[execution_id] = EffectRequest(execution_id, activity_id, attempt)
            if (kept := self.activations.get(execution_id)) is not None:  # Of an unfinished Compensable.
                live.waiters[execution_id] = kept
        self._read_values(state)

    def _complete_tops(self) -> None:
        root = self.activations.get(ROOT)
        if root is None:
            raise ValueError("the root activation is missing")
        if CLEANUP not in self.activations:
            self.live.cleanup = Activation(CLEANUP, root.node, None, root.outer, root.scope, data=[])

    def read_top(self, activation: Activation, data: Any) -> None:
        if activation.id == CLEANUP:
            self.live.cleanup = activation
            activation.data = [(self.plan.by_key[key], self.scopes[scope]) for key, scope in data or ()]
            return
        activation.data = self.data(data)
        if activation.id == ROOT:
            self.live.root = activation
        else:
            self.live.leftovers = (*self.live.leftovers, activation)

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
        live.committed_entries = len(live.journal)

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
