"""The tree of a definition: activities in ports, in lists and in entries."""

from __future__ import annotations

from typing import Any

from holdfast.model.definition import ActivityNode, Definition, PortEntry


def node(id: str, **ports: Any) -> ActivityNode:
    return ActivityNode(id=id, type="A", ports=ports)


TREE = node(
    "root",
    body=node("a", then=node("a1")),
    activities=(node("b"), node("c")),
    cases=(PortEntry(activities={"entry": node("d"), "exit": node("e")}),),
)


def test_children_are_the_activities_of_all_ports_in_order() -> None:
    assert [child.id for child in TREE.children()] == ["a", "b", "c", "d", "e"]


def test_a_walk_visits_every_activity_before_its_children() -> None:
    assert [item.id for item in TREE.walk()] == ["root", "a", "a1", "b", "c", "d", "e"]


def test_the_title_is_the_name_or_the_id() -> None:
    assert Definition(id="order", root=TREE).title == "order"
    assert Definition(id="order", name="Place an order", root=TREE).title == "Place an order"
