"""Conversion of flowcharts to nested activities.

A chain becomes a Sequence, and a decision whose branches join becomes an If. The result does the same work in the same
order and keeps the ids. Charts with loops, forks, joins, several outcomes, delays or several starts stay flowcharts,
and so do charts with an activity that ends the chart early.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from holdfast.model.definition import ActivityNode, Definition, PortEntry
from holdfast.model.descriptor import ActivityDescriptor
from holdfast.model.graph import FlowGraph, flow_graph

_DONE = (None, "Done")
_WAYS = {"True": "then", "False": "otherwise"}
_FLOW_ONLY = frozenset({"FlowFork", "FlowJoin", "FlowSwitch", "End", "Finish", "Complete", "Break", "Continue"})
"""Activities whose effect on the chart a Sequence cannot express."""

Descriptors = Mapping[str, ActivityDescriptor]


class _NotNestable(Exception):
    """The flowchart cannot be expressed as nested activities."""


def untangled(definition: Definition, descriptors: Descriptors) -> tuple[Definition, tuple[str, ...]]:
    """The definition with its flowcharts nested where possible, and the ids of those that stay flowcharts."""
    unnested: list[str] = []
    return replace(definition, root=_node(definition.root, descriptors, unnested)), tuple(unnested)


def _node(node: ActivityNode, descriptors: Descriptors, unnested: list[str]) -> ActivityNode:
    ports = {name: _port(value, descriptors, unnested) for name, value in node.ports.items()}
    node = replace(node, ports=ports)
    if node.type != "Flowchart":
        return node
    try:
        return _Nest(node, descriptors).sequence()
    except _NotNestable:
        unnested.append(node.id)
        return node


def _port(value: Any, descriptors: Descriptors, unnested: list[str]) -> Any:
    if isinstance(value, ActivityNode):
        return _node(value, descriptors, unnested)
    if not isinstance(value, tuple):
        return value
    return tuple(
        replace(item, activities={name: _node(child, descriptors, unnested) for name, child in item.activities.items()})
        if isinstance(item, PortEntry)
        else _node(item, descriptors, unnested)
        for item in value
    )


def _only_done(node: ActivityNode, descriptors: Descriptors) -> bool:
    """Whether the activity has a single outcome, so that a Sequence follows the same path as the chart."""
    found = descriptors.get(node.type)
    if found is None or found.terminal:
        return False
    return node.type == "FlowDecision" or (not found.dynamic_outcomes and set(found.outcomes) <= {"Done"})


class _Nest:
    def __init__(self, chart: ActivityNode, descriptors: Descriptors) -> None:
        self.chart = chart
        self.graph: FlowGraph = flow_graph(chart, descriptors=descriptors)
        self.activities = {child.id: child for child in chart.children()}
        self.used: set[str] = set()
        self._refuse_at_once(descriptors)

    def _refuse_at_once(self, descriptors: Descriptors) -> None:
        graph, chart = self.graph, self.chart
        starts = [child for child in self.activities.values() if child.options.can_start]
        known = all(item.source in self.activities and item.target in self.activities for item in chart.connections)
        if (
            graph.start is None
            or graph.backward
            or graph.dangling
            or len(starts) > 1
            or not known
            or set(chart.extra) - {"start"}
            or any(item.delay is not None for item in chart.connections)
            or any(child.type in _FLOW_ONLY or child.options.merge for child in self.activities.values())
            or not all(_only_done(child, descriptors) for child in self.activities.values())
        ):
            raise _NotNestable

    def sequence(self) -> ActivityNode:
        steps = self._steps(self.graph.start, None)
        if self.used != set(self.graph.reachable):
            raise _NotNestable
        return replace(self.chart, type="Sequence", ports={"activities": tuple(steps)}, connections=(), extra={})

    def _steps(self, at: str | None, until: str | None) -> list[ActivityNode]:
        """Activities from `at` up to the activity where the branches join."""
        steps: list[ActivityNode] = []
        while at is not None and at != until:
            if at in self.used:
                raise _NotNestable
            self.used.add(at)
            node, ways = self.activities[at], self._ways(at)
            if node.type == "FlowDecision":
                at = self._meeting(ways)
                steps.append(self._decision(node, ways, at))
            elif any(outcome not in _DONE for outcome in ways) or len(ways) > 1:
                raise _NotNestable
            else:
                steps.append(node)
                at = next(iter(ways.values()), None)
        if at != until:
            raise _NotNestable  # this branch ends before the others join
        return steps

    def _ways(self, activity_id: str) -> dict[str | None, str]:
        found: dict[str | None, str] = {}
        for index in self.graph.outbound(activity_id):
            connection = self.graph.connections[index]
            if connection.outcome in found:
                raise _NotNestable
            found[connection.outcome] = connection.target
        return found

    def _meeting(self, ways: Mapping[str | None, str]) -> str | None:
        """The first activity that all branches of a decision reach; None if no branch continues."""
        if set(ways) - set(_WAYS):
            raise _NotNestable
        if not ways:
            return None
        after = [{target, *self._after(target)} for target in ways.values()]
        common = set.intersection(*after) if len(after) == len(_WAYS) else set()
        if not common:
            # One branch ends: nothing may follow after the other one has continued alone.
            return None
        return min(common, key=lambda name: len(self.graph.ancestors(name) & common))

    def _after(self, activity_id: str) -> set[str]:
        return {name for name in self.graph.reachable if activity_id in self.graph.ancestors(name)}

    def _decision(self, node: ActivityNode, ways: Mapping[str | None, str], until: str | None) -> ActivityNode:
        ports: dict[str, Any] = {}
        for outcome, port in _WAYS.items():
            steps = self._steps(ways.get(outcome), until) if outcome in ways else []
            if len(steps) == 1:
                ports[port] = steps[0]
            elif steps:
                ports[port] = ActivityNode(id=f"{node.id}-{port}", type="Sequence", ports={"activities": tuple(steps)})
        return replace(node, type="If", ports=ports)
