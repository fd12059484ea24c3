"""`match` with an await inside: Python itself selects the case and binds its names."""

from __future__ import annotations

from typing import Any

from holdfast.activities.code.flow import block_of
from holdfast.activities.control.sequence import note_stop
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import entries, field
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.journal import DECIDED
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op, Outcome
from holdfast.model.scope import Scope


class Choose(Activity, pure=True, container=True, category="Code", icon="split", browsable=False):
    """Runs the case whose index `select` returns, or no case for None."""

    select: Any = field(evaluated=False)
    """Statements that return the index of the matching case, or None."""
    cases: list[dict[str, Any]] = entries()

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        select = block_of(builder, "select", statements=True)

        def case_done(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            live.complete(owner)

        cases = [
            builder.place(item.activities["body"], case_done, f"{builder.path}/cases/{number}/body")
            if "body" in item.activities
            else None
            for number, item in enumerate(builder.entries("cases"))
        ]
        node.hooks.stop = note_stop

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            number = select(live, owner, scope)
            activation = live.activate(node, owner, scope)
            live.journal.append((DECIDED, node.index, activation.id, live.now(), {"case": number}))
            chosen = cases[number] if number is not None else None
            if chosen is None:
                live.complete(activation)
            else:
                live.queue.append((chosen, activation, scope))

        return op
