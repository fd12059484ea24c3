"""Activities for flowcharts: they choose outcomes or define how branches join."""

from __future__ import annotations

from typing import Any

from holdfast.activities.control.conditions import chosen, decide
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import entries, field
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.journal import COMPLETED
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.model.scope import Scope


class FlowDecision(
    Activity, pure=True, outcomes=("True", "False"), category="Branching", icon="split", display_name="Decision"
):
    """Leaves by `True` or `False`, depending on a condition."""

    condition: bool = field(default=False, evaluated=False)
    """Condition to evaluate."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        index, done = builder.node.index, builder.done
        decided = decide(builder.expression("condition", default=False))

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            n = live.sequence = live.sequence + 1
            answer, saw = decided(scope)
            outcome = "True" if answer else "False"
            live.journal.append((COMPLETED, index, n, live.now(), {"outcome": outcome, "saw": saw}))
            done(live, owner, scope, outcome)

        return op


class FlowSwitch(
    Activity,
    pure=True,
    outcomes=("Default",),
    dynamic_outcomes=True,
    category="Branching",
    icon="route",
    display_name="Switch (flow)",
):
    """Leaves by the label of the first case whose condition is true, or of all such cases, else by `Default`."""

    cases: list[dict[str, Any]] = entries(keys=("label", "condition"))
    """Cases: `{"label": …, "condition": …}`. Each label is an outcome."""
    mode: str = "match_first"
    """`match_first` follows the first matching case, `match_any` follows all matching cases."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        index, done = builder.node.index, builder.done
        mode = builder.input("mode", "match_first")
        cases = builder.entries("cases")
        labels = [str(item.data.get("label", position)) for position, item in enumerate(cases)]
        conditions = [
            decide(builder.compile(item.data.get("condition", False), f"cases/{position}/condition"))
            for position, item in enumerate(cases)
        ]

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            n = live.sequence = live.sequence + 1
            answers = [condition(scope) for condition in conditions]
            matches = chosen([answer for answer, _ in answers], mode(scope))
            names = tuple(labels[position] for position in matches) or ("Default",)
            saw = {name: value for _, values in answers for name, value in values.items()}
            live.journal.append((COMPLETED, index, n, live.now(), {"outcomes": names, "saw": saw}))
            done(live, owner, scope, names)

        return op


class FlowFork(
    Activity, pure=True, dynamic_outcomes=True, category="Branching", icon="git-fork", display_name="Fork (flow)"
):
    """Leaves by all its branches at once."""

    branches: list[str] | None = None
    """Names of the branches. Each name is an outcome."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        index, done = builder.node.index, builder.done
        branches = builder.input("branches")

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            n = live.sequence = live.sequence + 1
            found = branches(scope)
            names = ("Done",) if found is None else (found,) if isinstance(found, str) else tuple(map(str, found))
            live.journal.append((COMPLETED, index, n, live.now(), {"outcomes": names}))
            done(live, owner, scope, names)

        return op


class FlowJoin(Activity, pure=True, category="Branching", icon="git-merge", display_name="Join"):
    """Joins branches."""

    mode: str = "wait_any"
    """`wait_all` waits for all branches, `wait_all_active` for all branches that are not dead, `wait_any` for the first
    one.
    """

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return builder.leaf(lambda live, scope: None)
