"""Flowchart graph as tables of positions: moves by outcome, inbound connections and ancestors."""

from __future__ import annotations

from holdfast.execution.plan import Node, Outcome
from holdfast.model.graph import FlowGraph

Move = tuple[int, int, bool, bool, bool]
"""Connection, target, followed, backward, valid."""

NOTHING: tuple[str, ...] = ()
"""No outcome: a dead path."""


class Routes:
    def __init__(self, graph: FlowGraph, nodes: list[Node]) -> None:
        self.graph = graph
        ids = [node.definition.id for node in nodes]
        self.position = {identity: number for number, identity in enumerate(ids)}
        self.ids = ids
        self.start = self.position.get(graph.start) if graph.start is not None else None
        self.connection_count = len(graph.connections)
        self.inbound = [graph.forward_inbound(identity) for identity in ids]
        """Forward connections into each activity."""
        self.all_inbound = [graph.inbound(identity) for identity in ids]
        self.sources = [self.position.get(item.source, -1) for item in graph.connections]
        self.targets = [self.position.get(item.target, -1) for item in graph.connections]
        self._moves: dict[tuple[int, Outcome], tuple[Move, ...]] = {}
        self._ancestors: dict[int, frozenset[int]] = {}

    def moves(self, position: int, outcome: Outcome) -> tuple[Move, ...]:
        """All connections that leave the activity, each with whether this outcome follows it."""
        found = self._moves.get((position, outcome))
        if found is None:
            found = self._moves[position, outcome] = tuple(
                self._move(index, outcome) for index in self.graph.outbound(self.ids[position])
            )
        return found

    def _move(self, index: int, outcome: Outcome) -> Move:
        port = self.graph.connections[index].outcome
        if outcome is None:
            followed = port in (None, "Done")
        else:
            followed = port == outcome if isinstance(outcome, str) else port in outcome
        backward = index not in self.graph.forward
        valid = not backward or self.graph.is_valid_backward(index)
        return index, self.targets[index], followed, backward, valid

    def ancestors(self, position: int) -> frozenset[int]:
        found = self._ancestors.get(position)
        if found is None:
            names = self.graph.ancestors(self.ids[position])
            found = self._ancestors[position] = frozenset(self.position[name] for name in names)
        return found
