"""Analysis of flowcharts: start, forward and backward connections, ancestors.

The rules are those of Elsa (counter mode). In breadth-first order from the start, a connection is forward unless its source
can already be reached from its target over forward connections. Backward connections are loops. A loop is valid if every path
from the start to its source passes through its target.

Sets of activities are bits of one int each, so that a chart of thousands of activities takes milliseconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from holdfast.model.definition import ActivityNode, Connection
from holdfast.model.descriptor import ActivityDescriptor

__all__ = ["FlowGraph", "children_of", "flow_graph", "start_of"]

Descriptors = Mapping[str, ActivityDescriptor]


def children_of(flowchart: ActivityNode) -> tuple[ActivityNode, ...]:
    """The activities that connections can refer to."""
    children = flowchart.ports.get("activities", ())
    return tuple(child for child in children if isinstance(child, ActivityNode)) if isinstance(children, tuple) else ()


def start_of(
    flowchart: ActivityNode, trigger_id: str | None = None, descriptors: Descriptors | None = None
) -> str | None:
    """The id of the activity that runs first; None for an empty flowchart.

    In order of precedence: the trigger that started the instance, the activity named by the key `start`, the first of a start
    type, the first that can start, the first without inbound connections, the first.
    """
    children = children_of(flowchart)
    ids = {child.id for child in children}
    if trigger_id in ids:
        return trigger_id
    named = flowchart.extra.get("start")
    if isinstance(named, str) and named in ids:
        return named
    targets = {connection.target for connection in flowchart.connections if connection.source in ids}
    rules = (
        lambda child: _is_start(child, descriptors),
        lambda child: child.options.can_start,
        lambda child: child.id not in targets,
        lambda child: True,
    )
    return next((child.id for rule in rules for child in children if rule(child)), None)


def _is_start(child: ActivityNode, descriptors: Descriptors | None) -> bool:
    descriptor = (descriptors or {}).get(child.type)
    return descriptor.start if descriptor is not None else child.type.rpartition(".")[2] == "Start"


def flow_graph(
    flowchart: ActivityNode, trigger_id: str | None = None, descriptors: Descriptors | None = None
) -> FlowGraph:
    """The graph as seen from the start of this instance: another trigger may reverse the direction of connections."""
    ids = [child.id for child in children_of(flowchart)]
    return FlowGraph(ids, flowchart.connections, start_of(flowchart, trigger_id, descriptors))


class FlowGraph:
    """Activities and connections of one flowchart, seen from its start. Connections to unknown activities are omitted.

    Connections are identified by their index in the flowchart, since two may be equal.
    """

    def __init__(self, activity_ids: Sequence[str], connections: Sequence[Connection], start: str | None) -> None:
        self.activity_ids = tuple(dict.fromkeys(activity_ids))
        self.connections = tuple(connections)
        self.start = start
        self._position = {activity_id: index for index, activity_id in enumerate(self.activity_ids)}
        self._outbound: dict[str, list[int]] = {activity_id: [] for activity_id in self.activity_ids}
        self._inbound: dict[str, list[int]] = {activity_id: [] for activity_id in self.activity_ids}
        for index, connection in enumerate(self.connections):
            if connection.source in self._position and connection.target in self._position:
                self._outbound[connection.source].append(index)
                self._inbound[connection.target].append(index)

    # -- connections

    def outbound(self, activity_id: str) -> tuple[int, ...]:
        """Indexes of the connections that leave the activity, in the order of the definition."""
        return tuple(self._outbound[activity_id])

    def inbound(self, activity_id: str) -> tuple[int, ...]:
        return tuple(self._inbound[activity_id])

    def forward_outbound(self, activity_id: str) -> tuple[int, ...]:
        return tuple(index for index in self._outbound[activity_id] if index in self.forward)

    def forward_inbound(self, activity_id: str) -> tuple[int, ...]:
        return tuple(index for index in self._inbound[activity_id] if index in self.forward)

    @cached_property
    def forward(self) -> frozenset[int]:
        """Indexes of the forward connections."""
        accepted = self._forward_pairs[0]
        return frozenset(
            index
            for indexes in self._outbound.values()
            for index in indexes
            if (self.connections[index].source, self.connections[index].target) in accepted
        )

    @cached_property
    def backward(self) -> frozenset[int]:
        """Indexes of the other connections that leave reachable activities."""
        return frozenset(
            index
            for activity_id in self.reachable
            for index in self._outbound[activity_id]
            if index not in self.forward
        )

    def is_valid_backward(self, index: int) -> bool:
        """Whether every path from the start to the connection's source passes through its target."""
        connection = self.connections[index]
        around = self._dominators.get(connection.source, 0)
        return bool(around >> self._position[connection.target] & 1)

    # -- activities

    @cached_property
    def reachable(self) -> tuple[str, ...]:
        """Reachable activities, breadth-first from the start."""
        return tuple(self._breadth_first())

    @cached_property
    def dangling(self) -> tuple[str, ...]:
        """Unreachable activities."""
        found = set(self.reachable)
        return tuple(activity_id for activity_id in self.activity_ids if activity_id not in found)

    def ancestors(self, activity_id: str) -> frozenset[str]:
        """All predecessors over forward connections."""
        return frozenset(self._names_in(self._forward_pairs[1].get(activity_id, 0)))

    def _names_in(self, bits: int) -> Iterator[str]:
        while bits:
            lowest = bits & -bits
            yield self.activity_ids[lowest.bit_length() - 1]
            bits ^= lowest

    def _breadth_first(self) -> Iterator[str]:
        if self.start not in self._position:
            return
        seen, waiting = {self.start}, deque([self.start])
        while waiting:
            activity_id = waiting.popleft()
            yield activity_id
            for index in self._outbound[activity_id]:
                target = self.connections[index].target
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)

    @cached_property
    def _forward_pairs(self) -> tuple[set[tuple[str, str]], dict[str, int]]:
        """The accepted pairs (source, target), and for each activity the bits of its predecessors."""
        before = dict.fromkeys(self.activity_ids, 0)
        accepted: set[tuple[str, str]] = set()
        follows: dict[str, list[str]] = {activity_id: [] for activity_id in self.activity_ids}
        for source in self._breadth_first():
            own = 1 << self._position[source]
            for index in self._outbound[source]:
                target = self.connections[index].target
                if (source, target) in accepted or (before[source] | own) >> self._position[target] & 1:
                    continue
                accepted.add((source, target))
                follows[source].append(target)
                _spread(before[source] | own, target, before, follows)
        return accepted, before

    @cached_property
    def _dominators(self) -> dict[str, int]:
        """For each reachable activity the bits of its dominators over forward connections, including itself."""
        before = self._forward_pairs[1]
        sources: dict[str, list[str]] = {}
        for source, target in self._forward_pairs[0]:
            sources.setdefault(target, []).append(source)
        found: dict[str, int] = {}
        # A predecessor has fewer predecessors itself: in this order all sources come first.
        for activity_id in sorted(self.reachable, key=lambda name: before[name].bit_count()):
            common = -1
            for source in sources.get(activity_id, ()):
                common &= found[source]
            own = 1 << self._position[activity_id]
            found[activity_id] = own if common == -1 else common | own
        return found


def _spread(bits: int, start: str, before: dict[str, int], follows: dict[str, list[str]]) -> None:
    """Add predecessors to an activity and all its successors."""
    waiting = [start]
    while waiting:
        activity_id = waiting.pop()
        if before[activity_id] | bits != before[activity_id]:
            before[activity_id] |= bits
            waiting.extend(follows[activity_id])
