"""Check of flowcharts: ends and outcomes of connections, unreachable activities, loops."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.model.checks.survey import Place, Survey, guess
from holdfast.model.definition import ActivityNode, Connection, Expression, PortEntry
from holdfast.model.graph import FlowGraph, children_of, flow_graph
from holdfast.model.pointers import pointer

__all__ = ["check_flowchart", "outcomes_of"]


def check_flowchart(survey: Survey, place: Place) -> None:
    node = place.node
    if not node.connections:
        return
    children = {child.id: child for child in children_of(node)}
    for index, connection in enumerate(node.connections):
        path = pointer(place.path, "connections", index)
        _check_ends(survey, connection, children, path)
        if connection.source in children and connection.outcome is not None:
            _check_outcome(survey, children[connection.source], connection.outcome, pointer(path, "outcome"))
    graph = flow_graph(node, descriptors=survey.descriptors)
    _check_reach(survey, place, graph)
    if survey.definition.options.flowchart_mode != "token":
        _check_loops(survey, place, graph)


def _check_ends(survey: Survey, connection: Connection, children: dict[str, ActivityNode], path: str) -> None:
    for end, activity_id in (("from", connection.source), ("to", connection.target)):
        if activity_id not in children:
            survey.error(
                pointer(path, end),
                "unknown-activity",
                f"The flowchart has no activity '{activity_id}'.",
                guess(activity_id, children),
            )


def _check_outcome(survey: Survey, source: ActivityNode, outcome: str, path: str) -> None:
    known = outcomes_of(survey, source)
    if known is not None and outcome not in known:
        survey.warn(
            path,
            "unknown-outcome",
            f"'{source.id}' ({source.type}) never completes with '{outcome}'.",
            guess(outcome, known),
        )


def outcomes_of(survey: Survey, node: ActivityNode) -> set[str] | None:
    """Possible outcomes of an activity; None if they are known only at run time."""
    descriptor = survey.describe(node)
    if descriptor is None or (descriptor.dynamic_outcomes and _is_computed(node)):
        return None
    known = set(descriptor.outcomes)
    if descriptor.dynamic_outcomes:
        known.update(_named(node))
    return known


def _is_computed(node: ActivityNode) -> bool:
    """Whether an input that may name outcomes is an expression, or a text that stands for a list."""
    return any(isinstance(value, Expression | str) for value in node.inputs.values())


def _named(node: ActivityNode) -> Iterator[str]:
    """All texts that an activity may use as outcomes: labels of entries and names in lists."""
    for value in node.inputs.values():
        items = value if isinstance(value, list | tuple) else ()
        for item in items:
            yield from (text for text in (item.values() if isinstance(item, dict) else [item]) if isinstance(text, str))
    for children in node.ports.values():
        for entry in children if isinstance(children, tuple) else ():
            if isinstance(entry, PortEntry):
                yield from (value for value in entry.data.values() if isinstance(value, str))


def _check_reach(survey: Survey, place: Place, graph: FlowGraph) -> None:
    starts = {child.id for child in children_of(place.node) if child.options.can_start}
    if starts:
        # Each trigger is a separate start.
        reached = {name for start in starts for name in flow_graph(place.node, start, survey.descriptors).reachable}
    else:
        reached = set()
    for index, child in enumerate(children_of(place.node)):
        if child.id in graph.dangling and child.id not in reached:
            survey.warn(
                pointer(place.path, "activities", index),
                "unreachable",
                f"No path from the start ('{graph.start}') leads to '{child.id}'.",
                "Connect it or remove it.",
            )


def _check_loops(survey: Survey, place: Place, graph: FlowGraph) -> None:
    for index in sorted(graph.backward):
        if not graph.is_valid_backward(index):
            connection = graph.connections[index]
            survey.warn(
                pointer(place.path, "connections", index),
                "invalid-loop",
                f"The loop back from '{connection.source}' to '{connection.target}' enters a branch from outside.",
                f"Connect it to an activity that every path to '{connection.source}' passes through.",
            )
