"""Sequence: runs activities one after the other."""

from __future__ import annotations

from typing import Any

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import children
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Done, Op, Outcome
from holdfast.execution.straight_lines import container, join
from holdfast.model.scope import Scope


class Sequence(Activity, pure=True, container=True, category="Control flow", icon="list"):
    """Runs its activities one after the other."""

    activities: list[Activity] = children()
    """Activities to run, in order."""

    def __init__(self, *activities: Activity, **given: Any) -> None:
        super().__init__(**({"activities": activities} | given))

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node, open_scope = builder.node, builder.open()
        items = builder.definition.ports.get("activities", ())

        def end(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            live.complete(owner)

        def follow(position: int) -> Done:
            def next_one(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
                if owner.flags:
                    live.complete(owner)
                else:
                    live.queue.append((nodes[position], owner, scope))

            return next_one

        last = len(items) - 1
        ends = [position == last or builder.is_terminal(item) for position, item in enumerate(items)]
        nodes = builder.children("activities", lambda position: end if ends[position] else follow(position + 1))
        node.hooks.stop = note_stop
        if not nodes:
            return builder.leaf(lambda live, scope: None)
        line, first = join(nodes, ends), nodes[0]

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            live.queue.append((first, live.activate(node, owner, scope), scope))

        def op_with_variables(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            inner = open_scope(scope)
            live.queue.append((first, live.activate(node, owner, scope, inner), inner))

        by_queue = op if node.shape is None else op_with_variables
        if line is None or node.timeout is not None:
            return by_queue
        return container(node, line, builder.done, open_scope, by_queue)


def note_stop(live: LiveInstance, activation: Activation, flag: int) -> bool:
    """Note a Break or Continue: end after the current activity, and pass the signal on to the loop."""
    activation.flags |= flag
    return False
