"""Three workloads for the engine loop, as plain data that every contender translates into its own form.

- `seq10`: ten assignments and lines, one after the other.
- `flow20`: ten decisions in a chart, each followed by an assignment; both ways meet again at the next decision.
- `foreach`: a thousand items, two assignments for each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from holdfast import Workflow, expr
from holdfast.activities import Flowchart, FlowDecision, ForEach, Sequence, SetVariable, WriteLine


@dataclass(frozen=True, slots=True)
class Step:
    """One activity: `assign`, `write`, `decide`, `sequence`, `chart` or `each`."""

    kind: str
    source: str = ""
    """Its expression."""
    name: str = ""
    """The variable that the step sets."""
    children: tuple[Step, ...] = ()
    links: tuple[tuple[int, str, int], ...] = ()
    """Connections of a chart: from, outcome, to."""


@dataclass(frozen=True, slots=True)
class Workload:
    name: str
    root: Step
    variables: dict[str, Any] = field(default_factory=dict)
    activities: int = 0
    """Number of executed activities, including the root."""
    repetitions: int = 1
    """Runs per turn of the fast contenders."""


ITEM = "CurrentValue"
"""Name of the item in the body of a loop."""


def seq10() -> Workload:
    steps = (
        Step("assign", "count + 1", "count"),
        Step("write", "customer"),
        Step("assign", "count * 2 + price", "price"),
        Step("write", "price"),
        Step("assign", "total + price", "total"),
        Step("assign", "count + 1", "count"),
        Step("write", '"total " + str(total)'),
        Step("assign", "price - count", "price"),
        Step("assign", "total * 2", "total"),
        Step("write", "total"),
    )
    variables = {"count": 0, "price": 1, "customer": "Hopper & Sons", "total": 0}
    return Workload("seq10", Step("sequence", children=steps), variables, activities=11, repetitions=200)


def flow20() -> Workload:
    steps: list[Step] = []
    links: list[tuple[int, str, int]] = []
    for pair in range(10):
        decision, assignment, after = 2 * pair, 2 * pair + 1, 2 * pair + 2
        steps.append(Step("decide", f"level % 2 == {pair % 2}" if pair % 3 else "level >= 0"))
        steps.append(Step("assign", "level + 1", "level"))
        links.append((decision, "True", assignment))
        if pair < 9:
            links.extend(((decision, "False", after), (assignment, "Done", after)))
    chart = Step("chart", children=tuple(steps), links=tuple(links))
    return Workload("flow20", chart, {"level": 0}, activities=21, repetitions=100)


def foreach(items: int = 1000) -> Workload:
    body = Step(
        "sequence",
        children=(Step("assign", f"total + {ITEM}", "total"), Step("assign", f"{ITEM} * 2", "twice")),
    )
    variables = {"numbers": list(range(items)), "total": 0, "twice": 0}
    loop = Step("each", "numbers", children=(body,))
    return Workload("foreach", loop, variables, activities=3 * items + 1, repetitions=2)


def as_holdfast(workload: Workload) -> Workflow:
    return Workflow(_activity(workload.root), name=workload.name, variables=workload.variables)


def _activity(step: Step) -> Any:
    children = [_activity(child) for child in step.children]
    match step.kind:
        case "assign":
            return SetVariable(step.name, expr(step.source))
        case "write":
            return WriteLine(expr(step.source))
        case "decide":
            return FlowDecision(expr(step.source))
        case "sequence":
            return Sequence(*children)
        case "each":
            return ForEach(expr(step.source), children[0])
        case "chart":
            links = [
                children[source] >> children[target]
                if outcome == "Done"
                else children[source].on(outcome) >> children[target]
                for source, outcome, target in step.links
            ]
            return Flowchart(*children, connections=links)
    raise ValueError(f"There is no step '{step.kind}'.")
