"""Which activity is which: rows of the table, by example, and every row there and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from holdfast.elsa import read_elsa, write_elsa
from holdfast.elsa.table import ROWS, InputField, Row, row_for_elsa, row_for_ours, snake
from holdfast.model.definition import ActivityNode, Expression, PortEntry

_VARIABLE = {
    "id": "v-1",
    "name": "Count",
    "typeName": "Int64",
    "storageDriverTypeName": "WorkflowInstanceStorageDriver",
}


def _document(root: dict[str, Any]) -> dict[str, Any]:
    return {
        "definitionId": "d",
        "variables": [_VARIABLE],
        "root": {"id": "a", "version": 1, "customProperties": {}, "metadata": {}, **root},
    }


def _read(root: dict[str, Any]) -> ActivityNode:
    definition, problems = read_elsa(_document(root))
    assert problems == []
    assert definition is not None
    return definition.root


def _wrapped(value: Any, type_name: str = "Object", language: str = "Literal") -> dict[str, Any]:
    return {"typeName": type_name, "expression": {"type": language, "value": value}}


_LINE: dict[str, Any] = {"id": "line", "type": "Elsa.WriteLine", "version": 1, "customProperties": {}, "metadata": {}}
_LINE_NODE = ActivityNode(id="line", type="WriteLine")


@pytest.mark.parametrize(
    ("elsa", "type_name", "inputs", "outputs", "ports"),
    [
        ({"type": "Elsa.WriteLine", "text": _wrapped("Hi", "String")}, "WriteLine", {"text": "Hi"}, {}, {}),
        ({"type": "Elsa.WriteLine", "text": "bare"}, "WriteLine", {"text": "bare"}, {}, {}),
        ({"type": "Elsa.WriteLine", "text": None}, "WriteLine", {}, {}, {}),
        ({"type": "Elsa.Workflows.Activities.WriteLine"}, "WriteLine", {}, {}, {}),
        (
            {"type": "Elsa.If", "condition": _wrapped("true", "Boolean"), "then": _LINE, "else": None},
            "If",
            {"condition": True},
            {},
            {"then": _LINE_NODE},
        ),
        (
            {
                "type": "Elsa.For",
                "start": _wrapped(1),
                "outerBoundInclusive": _wrapped("False", "Boolean"),
                "body": _LINE,
            },
            "For",
            {"start": 1, "inclusive": False},
            {},
            {"body": _LINE_NODE},
        ),
        (
            {"type": "Elsa.Fork", "joinMode": "WaitAny", "branches": [_LINE]},
            "Fork",
            {"join": "wait_any"},
            {},
            {"branches": (_LINE_NODE,)},
        ),
        ({"type": "Elsa.Fork", "joinMode": 0}, "Fork", {"join": "wait_all"}, {}, {}),
        ({"type": "Elsa.FlowJoin", "mode": _wrapped("WaitAllActive")}, "FlowJoin", {"mode": "wait_all_active"}, {}, {}),
        ({"type": "Elsa.FlowJoin", "mode": _wrapped(2)}, "FlowJoin", {"mode": "wait_any"}, {}, {}),
        ({"type": "Elsa.FlowJoin", "mode": _wrapped("0")}, "FlowJoin", {"mode": "wait_all"}, {}, {}),
        ({"type": "Elsa.FlowNode", "body": _LINE}, "Scope", {}, {}, {"body": _LINE_NODE}),
        (
            {
                "type": "Elsa.Switch",
                "cases": [{"label": "A", "condition": {"type": "JavaScript", "value": "1"}, "activity": _LINE}],
                "mode": _wrapped("MatchAny"),
                "default": {**_LINE, "id": "other"},
            },
            "Switch",
            {"mode": "match_any"},
            {},
            {
                "default": ActivityNode(id="other", type="WriteLine"),
                "cases": (
                    PortEntry(
                        data={"label": "A", "condition": Expression("javascript", "1")},
                        activities={"activity": _LINE_NODE},
                    ),
                ),
            },
        ),
        (
            {"type": "Elsa.FlowSwitch", "cases": [{"label": "A", "condition": {"type": "Literal", "value": "true"}}]},
            "FlowSwitch",
            {},
            {},
            {"cases": (PortEntry(data={"label": "A", "condition": True}),)},
        ),
        (
            {
                "type": "Elsa.StateMachine",
                "states": [{"name": "New", "entry": _LINE, "exit": None}],
                "transitions": [
                    {
                        "name": "pay",
                        "from": "New",
                        "to": "Paid",
                        "trigger": {**_LINE, "id": "t"},
                        "condition": _wrapped("ok", "Boolean", "JavaScript"),
                        "action": None,
                    }
                ],
                "initialState": "New",
            },
            "StateMachine",
            {"initial": "New"},
            {},
            {
                "states": (PortEntry(data={"name": "New"}, activities={"entry": _LINE_NODE}),),
                "transitions": (
                    PortEntry(
                        data={"name": "pay", "from": "New", "to": "Paid", "condition": Expression("javascript", "ok")},
                        activities={"trigger": ActivityNode(id="t", type="WriteLine")},
                    ),
                ),
            },
        ),
        (
            {
                "type": "Elsa.SetVariable",
                "variable": {"id": "v-1", "name": "Count"},
                "value": _wrapped("x", language="JavaScript"),
            },
            "SetVariable",
            {"variable": "Count", "value": Expression("javascript", "x")},
            {},
            {},
        ),
        (
            {
                "type": "Elsa.RunJavaScript",
                "script": _wrapped("1", "String"),
                "result": {"memoryReference": {"id": "v-1"}},
            },
            "RunScript",
            {"script": "1", "language": "javascript"},
            {"result": "Count"},
            {},
        ),
        ({"type": "Elsa.RunPython"}, "RunScript", {"language": "python"}, {}, {}),
        ({"type": "Elsa.SetName", "value": _wrapped("N", "String")}, "SetName", {"name": "N"}, {}, {}),
        (
            {"type": "Elsa.Delay", "timeSpan": _wrapped("00:00:05", "TimeSpan")},
            "Delay",
            {"duration": timedelta(seconds=5)},
            {},
            {},
        ),
        (
            {"type": "Elsa.Cron", "cronExpression": _wrapped("0 0 * * * *", "String")},
            "Cron",
            {"expression": "0 0 * * * *"},
            {},
            {},
        ),
        (
            {"type": "Elsa.StartAt", "dateTime": _wrapped("2026-03-01T00:00:00Z", "DateTimeOffset")},
            "StartAt",
            {"at": datetime(2026, 3, 1, tzinfo=UTC)},
            {},
            {},
        ),
        (
            {
                "type": "Elsa.ExecuteWorkflow",
                "workflowDefinitionId": _wrapped("child", "String"),
                "waitForCompletion": _wrapped(True, "Boolean"),
            },
            "ExecuteWorkflow",
            {"workflow": "child", "wait": True},
            {},
            {},
        ),
        (
            {
                "type": "Elsa.SendHttpRequest",
                "url": _wrapped("http://x", "String"),
                "expectedStatusCodes": [{"statusCode": 200, "activity": _LINE}],
                "timeout": {**_LINE, "id": "late"},
            },
            "SendHttpRequest",
            {"url": "http://x"},
            {},
            {
                "timeout": ActivityNode(id="late", type="WriteLine"),
                "expected_status_codes": (PortEntry(data={"status_code": 200}, activities={"activity": _LINE_NODE}),),
            },
        ),
        (
            {"type": "Elsa.WriteHttpResponse", "statusCode": _wrapped("Created", "HttpStatusCode")},
            "WriteHttpResponse",
            {"status_code": 201},
            {},
            {},
        ),
    ],
)
def test_activities_by_example(
    elsa: dict[str, Any], type_name: str, inputs: dict[str, Any], outputs: dict[str, str], ports: dict[str, Any]
) -> None:
    node = _read(elsa)
    assert (node.type, dict(node.inputs), dict(node.outputs), dict(node.ports)) == (type_name, inputs, outputs, ports)


def _sample(field: InputField) -> Any:
    if field.variable:
        return {"id": "v-1", "name": "Count", "typeName": "Int64"}
    if field.raw:
        return field.choices[-1][0] if field.choices else {"Boolean": True, "Int32": 3}.get(field.type, "text")
    value = field.choices[-1][0] if field.choices else "1 + 1"
    return _wrapped(value, field.type_name, "Literal" if field.choices else "JavaScript")


def _full(row: Row) -> dict[str, Any]:
    """An activity with every property that its row knows."""
    document: dict[str, Any] = {"type": row.elsa, **{field.elsa: _sample(field) for field in row.inputs}}
    for elsa, _ in row.outputs:
        document[elsa] = {"typeName": "Object", "memoryReference": {"id": "v-1"}}
    for elsa, _ in row.ports:
        document[elsa] = {**_LINE, "id": elsa}
    for elsa, _ in row.lists:
        document[elsa] = [{**_LINE, "id": f"{elsa}-{number}"} for number in (1, 2)]
    for entries in row.entries:
        item: dict[str, Any] = {field.elsa: _sample(field) for field in entries.data}
        item.update({name: {"type": "JavaScript", "value": "x"} for name in entries.expressions})
        item.update({elsa: {**_LINE, "id": f"{entries.elsa}-{elsa}"} for elsa, _ in entries.activities})
        document[entries.elsa] = [item]
    if row.flowchart:
        document["connections"] = []
    return document


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.elsa)
def test_every_row_goes_there_and_back_in_full(row: Row) -> None:
    document = _document(_full(row))
    definition, problems = read_elsa(document)
    assert problems == []
    assert definition is not None
    node = definition.root
    assert node.type == row.ours
    assert set(node.inputs) == {field.ours for field in row.inputs} | set(row.fixed)
    assert set(node.outputs) == {ours for _, ours in row.outputs}
    assert set(node.ports) == {ours for _, ours in (*row.ports, *row.lists)} | {field.ours for field in row.entries}
    assert "elsa" not in node.metadata, "a document in canonical form leaves nothing to keep"
    assert write_elsa(definition) == (document, [])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.elsa)
def test_rows_are_found_from_both_sides(row: Row) -> None:
    assert row_for_elsa(row.elsa) is row
    assert row_for_ours(row.ours, row.fixed) is row


def test_names_become_snake_case() -> None:
    assert [snake(name) for name in ("text", "outerBoundInclusive", "exposeFileTooLargeOutcome")] == [
        "text",
        "outer_bound_inclusive",
        "expose_file_too_large_outcome",
    ]
