"""If and Switch: run one of several branches."""

from __future__ import annotations

from typing import Any

from holdfast.activities.control.conditions import chosen, decide
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import entries, field, output, port
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Node, Op, Outcome
from holdfast.model.instance import JournalEvent
from holdfast.model.scope import Scope

DECIDED = JournalEvent.DECIDED


class If(Activity, pure=True, container=True, category="Branching", icon="split"):
    """Runs `then` if the condition is true, else `otherwise`."""

    condition: bool = field(default=False, evaluated=False)
    """Condition to evaluate."""
    then: Activity | None = port()
    """Runs if the condition is true."""
    otherwise: Activity | None = port(display_name="Else")
    """Runs if the condition is false."""
    result: bool = output()
    """Value of the condition."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        decided = decide(builder.expression("condition", default=False))
        put = builder.output("result")

        def child_done(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            live.complete(owner)

        branches = {
            True: builder.child("then", child_done),
            False: builder.child("otherwise", child_done),
        }

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            answer, values = decided(scope)
            activation = live.activate(node, owner, scope)
            live.journal.append((DECIDED, node.index, activation.id, live.now(), {"answer": answer, "saw": values}))
            put(live, scope, answer)
            branch = branches[answer]
            if branch is None:
                live.complete(activation)
            else:
                live.queue.append((branch, activation, scope))

        return op


class Switch(Activity, pure=True, container=True, category="Branching", icon="route"):
    """Runs the activity of the first case whose condition is true, or of all such cases, else `default`."""

    cases: list[dict[str, Any]] = entries(keys=("label", "condition", "activity"))
    """Cases: `{"label": …, "condition": …, "activity": …}`."""
    mode: str = "match_first"
    """`match_first` runs the first matching case, `match_any` runs all matching cases."""
    default: Activity | None = port()
    """Runs if no case matches."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        mode = builder.input("mode", "match_first")
        cases = builder.entries("cases")
        labels = [str(item.data.get("label", position)) for position, item in enumerate(cases)]
        conditions = [
            decide(builder.compile(item.data.get("condition", False), f"cases/{position}/condition"))
            for position, item in enumerate(cases)
        ]

        def child_done(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            owner.data -= 1
            if owner.data == 0:
                live.complete(owner)

        branches: list[Node | None] = [
            builder.place(item.activities["activity"], child_done, f"{builder.path}/cases/{position}/activity")
            if "activity" in item.activities
            else None
            for position, item in enumerate(cases)
        ]
        otherwise = builder.child("default", child_done)

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            answers = [condition(scope) for condition in conditions]
            matches = chosen([answer for answer, _ in answers], mode(scope))
            activation = live.activate(node, owner, scope)
            saw = {name: value for _, values in answers for name, value in values.items()}
            names = [labels[position] for position in matches] or ["default"]
            live.journal.append((DECIDED, node.index, activation.id, live.now(), {"answer": names, "saw": saw}))
            scheduled = [branches[position] for position in matches] if matches else [otherwise]
            running = [branch for branch in scheduled if branch is not None]
            activation.data = len(running)
            for branch in running:
                live.queue.append((branch, activation, scope))
            if not running:
                live.complete(activation)

        return op
