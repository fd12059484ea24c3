"""State writer: converts a live instance to its stored form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from holdfast.execution.activation import Activation
from holdfast.execution.branches.branch_state import RECORDS
from holdfast.execution.branches.branch_writer import BranchWriter, is_wide
from holdfast.execution.branches.waking_dict import awake
from holdfast.execution.frames import FrameShape
from holdfast.execution.heap import HeapPages, write_heap
from holdfast.execution.lazy_values import LazyValue
from holdfast.execution.live import ChildStart, LiveInstance
from holdfast.execution.part_writer import Array, PartWriter
from holdfast.execution.plan import Plan
from holdfast.execution.record import EffectRequest
from holdfast.model.instance import Bookmark


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
    return _StateWriter(live, live.plan.types, lazy, trusting and lazy is not None, pages=pages).state()


class _StateWriter(PartWriter):
    pages: HeapPages | None = None

    branches: BranchWriter | None = None
    records_frame: int = 0
    """Number of the frame with the sleeping branches, counted from 1; 0: no branch sleeps."""

    def state(self) -> Array:
        live = self.live
        if self.pages is None and live.asleep is not None:
            live.asleep.wake_all()
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
        marks = [self.bookmark(item) for item in self._awake_bookmarks()] if live.bookmarks else []
        queue = [(node.key, owner.id, self.scope(scope)) for node, owner, scope in live.queue] if live.queue else []
        if not has_rest and not live.effects:
            return (*begin, marks, queue)
        effects = [self.effect(item) for item in self._awake_effects()]
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
        rare = (live.home, interrupted, ending, self.records_frame)
        return (*rest, [], *rare) if any(rare) else rest

    # -- branches ------------------------------------------------------------------------------------------------------

    def activations(self) -> list[Array]:
        live = self.live
        cleanup = live.cleanup
        tops = [live.root]
        if cleanup.kids or cleanup.data:
            tops.append(cleanup)
        if live.leftovers:
            tops += live.leftovers
        everyone, kids = self._spread(tops)
        written = self.activations_of(everyone)
        if self.pages is None or (not kids and live.asleep is None):
            return written
        self.branches = BranchWriter(live, trusting=self.trusting)
        while kids:
            everyone, kids = self._spread(self.branches.pack(kids, self.numbers))
            written += self.activations_of(everyone)
        self._keep_branches(self.branches)
        return written

    def _spread(self, everyone: list[Activation]) -> tuple[list[Activation], list[Activation]]:
        """These activations and all below them, and the kids of wide containers, whose branches may sleep."""
        apart: list[Activation] = []
        may_sleep = self.pages is not None
        for item in everyone:  # grows while it is iterated: kids follow their owners
            if not item.kids:
                continue
            if may_sleep and is_wide(item.kids):
                apart += awake(item.kids).values()
            else:
                everyone += item.kids.values()
        return everyone, apart

    def _keep_branches(self, branches: BranchWriter) -> None:
        assert self.pages is not None
        branches.update_records()
        self.pages.branches = branches.changes()
        if branches.records:
            self.frames.append({RECORDS: branches.records})
            self.records_frame = len(self.frames)

    def _awake_bookmarks(self) -> Iterable[Bookmark]:
        if self.branches is None:
            return self.live.bookmarks.values()
        asleep = self.branches.marks
        return [item for item in awake(self.live.bookmarks).values() if item.id not in asleep]

    def _awake_effects(self) -> Iterable[EffectRequest]:
        if self.branches is None:
            return self.live.effects.values()
        asleep = self.branches.effects
        return [item for item in awake(self.live.effects).values() if item.execution_id not in asleep]

    def heap(self) -> dict[str, Any]:
        return write_heap(self.frames, self.types, references(self.live.plan), trusting=self.trusting, pages=self.pages)

    def child_start(self, item: ChildStart) -> dict[str, Any]:
        return {**{name: getattr(item, name) for name in ChildStart.__slots__}, "input": self.value(item.input)}


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
