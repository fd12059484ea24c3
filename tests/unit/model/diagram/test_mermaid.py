"""Mermaid text: shapes, labels and arrows."""

from __future__ import annotations

from holdfast.model.descriptor import ActivityDescriptor
from holdfast.model.diagram.mermaid import to_mermaid
from holdfast.model.reader import parse_definition


def test_special_characters_of_mermaid_are_escaped() -> None:
    definition = parse_definition({"id": "d", "root": {"type": "A", "id": "a", "name": 'say "<b>" #1 & `x`'}})
    line = to_mermaid(definition, {"A": ActivityDescriptor(type="A")}).splitlines()[1]

    assert "say #quot;#lt;b#gt;#quot; #35;1 #amp; #96;x#96;" in line
    assert line.count('"') == 2


def test_the_shape_shows_the_kind_of_an_activity() -> None:
    activities = [{"type": name, "id": name.lower()} for name in ("Start", "End", "Mystery")]
    definition = parse_definition({"id": "d", "root": {"type": "Sequence", "id": "s", "activities": activities}})
    descriptors = {
        "Sequence": ActivityDescriptor(type="Sequence"),
        "Start": ActivityDescriptor(type="Start", start=True),
        "End": ActivityDescriptor(type="End", terminal=True),
    }
    lines = [line.strip() for line in to_mermaid(definition, descriptors).splitlines()]

    assert lines[0] == "flowchart TD"
    assert lines[1].startswith("subgraph ")
    assert ["([" in line for line in lines[2:5]] == [True, True, False]
    assert "{{" in lines[4]
    assert sum("-->" in line for line in lines) == 2
