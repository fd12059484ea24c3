"""A definition as nodes and edges for the Studio."""

from __future__ import annotations

from holdfast.model.descriptor import ActivityDescriptor
from holdfast.model.reader import parse_definition
from holdfast.server.views.diagram import graph

DESCRIPTORS = {
    "Flowchart": ActivityDescriptor(type="Flowchart"),
    "Sequence": ActivityDescriptor(type="Sequence"),
    "Event": ActivityDescriptor(type="Event", trigger=True),
    "End": ActivityDescriptor(type="End", terminal=True),
}
DEFINITION = parse_definition(
    {
        "id": "order",
        "root": {
            "type": "Flowchart",
            "id": "flow",
            "activities": [
                {
                    "type": "Event",
                    "id": "paid",
                    "options": {"can_start": True},
                    "metadata": {"position": {"x": 1, "y": 2}},
                },
                {
                    "type": "Sequence",
                    "id": "both",
                    "activities": [{"type": "Mystery", "id": "m"}, {"type": "End", "id": "e"}],
                },
            ],
            "connections": [{"from": "paid", "to": "both"}, {"from": "both", "to": "paid", "outcome": "Again"}],
        },
    }
)


def test_every_activity_is_a_node_with_its_parent_and_style() -> None:
    nodes = {node.id: node for node in graph(DEFINITION, DESCRIPTORS).nodes}

    assert {id: (node.parent, node.style) for id, node in nodes.items()} == {
        "flow": (None, "plain"),
        "paid": ("flow", "trigger"),
        "both": ("flow", "plain"),
        "m": ("both", "unknown"),
        "e": ("both", "end"),
    }
    assert nodes["paid"].position == {"x": 1, "y": 2}


def test_connections_are_edges_and_a_sequence_is_a_chain() -> None:
    edges = {(edge.source, edge.target): edge for edge in graph(DEFINITION, DESCRIPTORS).edges}

    assert edges.keys() == {("paid", "both"), ("both", "paid"), ("m", "e")}
    assert (edges["both", "paid"].outcome, edges["both", "paid"].backward) == ("Again", True)
    assert not edges["paid", "both"].backward
