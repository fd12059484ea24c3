"""Sagas: work that can be undone in reverse order.

A completed Compensable stores a record with the instance: its compensation and the scope to run it in. The record
survives suspension. Compensate runs the recorded compensations, last one first; so does canceling the instance. Both wait
for the end of effects that may still complete a canceled Compensable.
"""

from __future__ import annotations

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import port
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.cancellation import complete_unfinished, has_unfinished
from holdfast.execution.live import Compensation, LiveInstance
from holdfast.execution.plan import Node, Op, Outcome
from holdfast.model.instance import JournalEvent
from holdfast.model.scope import Scope


class Compensable(Activity, pure=True, container=True, category="Control flow", icon="undo"):
    """Runs its body. After the body has completed, `compensation` can undo it."""

    body: Activity | None = port()
    """Work that can be undone."""
    compensation: Activity | None = port()
    """Activity that undoes the body."""
    key: str = ""
    """Key by which Compensate selects it. Default: the id of the activity."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node, open_scope = builder.node, builder.open()
        key = builder.literal("key", "") or builder.definition.id

        def never(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            """Runs only on behalf of other nodes, which handle its completion."""

        undo = builder.child("compensation", never, lendable=True)

        def body_done(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            if undo is not None:
                live.compensations = (*live.compensations, Compensation(owner.id, key, undo, owner.scope))
            if live.finishing is owner:
                complete_unfinished(live, owner)
            else:
                live.complete(owner)

        node.hooks.undoable = undo is not None
        body = builder.child("body", body_done)

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            inner = open_scope(scope)
            activation = live.activate(node, owner, scope, inner)
            if body is None:
                body_done(live, activation, inner, None)
            else:
                live.queue.append((body, activation, inner))

        return op


class Compensate(Activity, pure=True, category="Control flow", icon="undo"):
    """Runs the compensations of completed Compensables, last one first: all of them, or those with one key."""

    key: str | None = None
    """Key of the Compensables to undo. Default: all."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        key_of = builder.input("key")

        def take_next(live: LiveInstance, activation: Activation) -> Compensation | None:
            wanted = activation.data
            position = next(
                (n for n in reversed(range(len(live.compensations))) if wanted in (None, live.compensations[n].name)),
                None,
            )
            if position is None:
                return None
            record = live.compensations[position]
            live.compensations = live.compensations[:position] + live.compensations[position + 1 :]
            live.note(JournalEvent.COMPENSATED, activation, {"execution": record.execution_id, "key": record.name})
            return record

        def undo_next(live: LiveInstance, activation: Activation) -> None:
            if has_unfinished(live):
                return  # `all_finished` continues.
            record = take_next(live, activation)
            if record is None:
                live.complete(activation)
            else:
                live.queue.append((record.node, activation, record.scope))

        def unbroken(live: LiveInstance, activation: Activation) -> list[tuple[Node, Scope]]:
            """All compensations run, also those that have not begun."""
            rest: list[tuple[Node, Scope]] = []
            while (record := take_next(live, activation)) is not None:
                rest.append((record.node, record.scope))
            return rest

        def undone(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            undo_next(live, owner)

        def all_finished(live: LiveInstance, activation: Activation) -> None:
            if not activation.kids and all(owner is not activation for _, owner, _ in live.queue):
                undo_next(live, activation)

        node.hooks.all_finished = all_finished
        node.hooks.borrowed = undone
        node.hooks.unbroken = unbroken

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            activation = live.activate(node, owner, scope)
            activation.data = key_of(scope)
            undo_next(live, activation)

        return op
