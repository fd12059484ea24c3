"""What changed between two versions of a definition."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.model.definition import ActivityNode, Definition, Expression, Variable
from holdfast.model.diff import Change, DefinitionDiff, diff_definitions
from holdfast.model.reader import parse_definition


def definition(*activities: dict[str, Any], **more: Any) -> dict[str, Any]:
    root = {"type": "Sequence", "id": "root", "activities": list(activities)}
    return {"format": "holdfast/definition@1", "id": "order", "root": root, **more}


def line(identity: str, text: str = "x", **more: Any) -> dict[str, Any]:
    return {"type": "WriteLine", "id": identity, "inputs": {"text": text}, **more}


def diff(before: dict[str, Any], after: dict[str, Any]) -> DefinitionDiff:
    return diff_definitions(parse_definition(before), parse_definition(after))


def changes(found: DefinitionDiff) -> dict[str, str]:
    return {item.id: item.change.value for item in found.activities}


def test_the_same_content_is_no_change() -> None:
    one = definition(line("a"), line("b"))
    other = definition(line("a", metadata={"position": {"x": 1, "y": 2}}), line("b"), version=7, description="Other.")
    assert diff(one, other).is_empty


def test_added_and_removed_move_nobody_else() -> None:
    found = diff(definition(line("a"), line("b"), line("c")), definition(line("new"), line("b"), line("c")))
    assert changes(found) == {"new": "added", "a": "removed"}


def test_a_changed_input_says_what_it_was() -> None:
    found = diff(definition(line("a", "one")), definition(line("a", "two", options={"timeout": "PT5S"})))
    (change,) = found.activities
    assert change.change is Change.CHANGED
    assert [(item.path, item.before, item.after) for item in change.fields] == [
        ("inputs.text", "one", "two"),
        ("options.timeout", None, "PT5S"),
    ]


def test_an_expression_is_one_value() -> None:
    before, after = line("a", {"$python": "x"}), line("a", {"$javascript": "x"})  # type: ignore[arg-type]
    (change,) = diff(definition(before), definition(after)).activities
    assert [(item.path, item.before, item.after) for item in change.fields] == [
        ("inputs.text", {"$python": "x"}, {"$javascript": "x"})
    ]


def test_only_who_changed_places_is_moved() -> None:
    found = diff(definition(line("a"), line("b"), line("c")), definition(line("b"), line("c"), line("a")))
    assert changes(found) == {"a": "moved"}
    assert [(item.path, item.before, item.after) for item in found.activities[0].fields] == [
        ("place", "root.activities[0]", "root.activities[2]")
    ]


def test_into_a_branch_is_moved_too() -> None:
    branch = {"type": "If", "id": "check", "inputs": {"condition": True}, "then": line("a")}
    found = diff(definition(line("a")), definition(branch))
    assert changes(found) == {"check": "added", "a": "moved"}


def test_cases_are_fields_of_their_switch() -> None:
    def switch(condition: bool) -> dict[str, Any]:
        case = {"label": "A", "condition": condition, "activity": line("a")}
        return definition({"type": "Switch", "id": "s", "cases": [case]})

    (change,) = diff(switch(True), switch(False)).activities
    assert change.id == "s"
    assert [item.path for item in change.fields] == ["cases[0].condition"]


def test_connections_and_variables() -> None:
    def chart(outcome: str, kind: str) -> dict[str, Any]:
        root = {
            "type": "Flowchart",
            "id": "root",
            "activities": [line("a"), line("b")],
            "connections": [{"from": "a", "to": "b", "outcome": outcome}],
            "variables": [{"name": "inner", "type": kind}],
        }
        return {"format": "holdfast/definition@1", "id": "x", "root": root, "variables": [{"name": kind}]}

    found = diff(chart("Done", "int"), chart("Failed", "str"))
    assert [(item.outcome, item.change.value) for item in found.connections] == [
        ("Failed", "added"),
        ("Done", "removed"),
    ]
    assert [(item.scope, item.name, item.change.value) for item in found.variables] == [
        (None, "str", "added"),
        ("root", "inner", "changed"),
        (None, "int", "removed"),
    ]


def test_inputs_outputs_and_options() -> None:
    found = diff(
        definition(inputs=[{"name": "amount", "type": "int", "description": "Euro"}]),
        definition(
            inputs=[{"name": "amount", "type": "decimal"}],
            outputs=[{"name": "receipt"}],
            options={"activation": "singleton"},
        ),
    )
    assert [(item.name, item.change.value, item.fields[0].path) for item in found.inputs] == [
        ("amount", "changed", "type")
    ]
    assert [(item.name, item.change.value) for item in found.outputs] == [("receipt", "added")]
    assert [(item.path, item.after) for item in found.settings] == [("options.activation", "singleton")]


def test_it_is_json() -> None:
    found = diff(definition(line("a")), definition(line("b")))
    assert msgspec.json.decode(msgspec.json.encode(found))["activities"][0] == {
        "id": "b",
        "type": "WriteLine",
        "change": "added",
        "title": "b",
        "fields": [],
    }


def test_numbers_of_temporaries_are_no_change() -> None:
    """A statement more at the beginning of a function renumbers all temporaries behind it."""

    def version(number: int, name: str) -> Definition:
        step = ActivityNode(
            id="step",
            type="Code",
            inputs={"text": Expression("code", f"__{number} = f(__{number + 1}, {name})")},
            variables=(Variable(name=f"__{number}"),),
        )
        return Definition(id="d", root=step)

    assert diff_definitions(version(9, "a"), version(10, "a")).is_empty
    (change,) = diff_definitions(version(9, "a"), version(10, "b")).activities
    assert change.fields[0].path == "inputs.text"
