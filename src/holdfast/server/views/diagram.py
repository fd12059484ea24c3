"""Diagram of a definition: nodes and edges."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.model.definition import ActivityNode, Definition, PortEntry
from holdfast.model.descriptor import ActivityDescriptor
from holdfast.model.graph import children_of, flow_graph
from holdfast.server.schemas.definitions import DefinitionGraph, GraphEdge, GraphNode

Descriptors = Mapping[str, ActivityDescriptor]


def graph(definition: Definition, descriptors: Descriptors) -> DefinitionGraph:
    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    waiting: list[tuple[ActivityNode, str | None, str | None]] = [(definition.root, None, None)]
    while waiting:
        node, parent, port = waiting.pop(0)
        nodes.append(_node(node, parent, port, descriptors))
        edges.extend(_edges(node, descriptors))
        waiting.extend((child, node.id, name) for name, child in _children(node))
    return DefinitionGraph(nodes=nodes, edges=edges)


def _node(node: ActivityNode, parent: str | None, port: str | None, descriptors: Descriptors) -> GraphNode:
    descriptor = descriptors.get(node.type)
    style = "unknown" if descriptor is None else "plain"
    if descriptor is not None and descriptor.trigger and node.options.can_start:
        style = "trigger"
    elif descriptor is not None and (descriptor.start or descriptor.terminal):
        style = "start" if descriptor.start else "end"
    position: Any = node.metadata.get("position")
    return GraphNode(
        id=node.id,
        type=node.type,
        title=str(node.metadata.get("title") or node.name or node.id),
        parent=parent,
        port=port,
        style=style,
        position=position if isinstance(position, dict) else None,
    )


def _children(node: ActivityNode) -> Iterator[tuple[str, ActivityNode]]:
    for port, held in node.ports.items():
        for item in held if isinstance(held, tuple) else (held,):
            if isinstance(item, ActivityNode):
                yield port, item
            elif isinstance(item, PortEntry):
                yield from ((f"{port}.{name}", child) for name, child in item.activities.items())


def _edges(node: ActivityNode, descriptors: Descriptors) -> Iterator[GraphEdge]:
    if node.connections:
        drawn = flow_graph(node, descriptors=descriptors)
        for index, item in enumerate(node.connections):
            yield GraphEdge(
                source=item.source, target=item.target, outcome=item.outcome, backward=index in drawn.backward
            )
    elif node.type.rpartition(".")[2] == "Sequence":
        for one, other in itertools.pairwise(children_of(node)):
            yield GraphEdge(source=one.id, target=other.id)
