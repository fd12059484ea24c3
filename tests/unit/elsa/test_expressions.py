"""Expressions of Elsa's languages in ours and back."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.elsa.expressions import read_expression, write_expression
from holdfast.elsa.names import Declared
from holdfast.elsa.reports import Reports
from holdfast.elsa.types import parse_type
from holdfast.model.definition import Expression, Variable
from holdfast.model.problem import Severity

_NAMES = Declared(
    [
        Variable(name="Count", type="integer", id="v-1"),
        Variable(name="Twice", id="t-1"),
        Variable(name="Twice", id="t-2"),
    ],
    ["Reply"],
)


def _read(raw: dict[str, Any], type_name: str = "Object") -> tuple[Any, list[tuple[str, Severity]]]:
    reports = Reports()
    value = read_expression(raw, parse_type(type_name), _NAMES, reports, "/root/text/expression")
    assert all(problem.path == "/root/text/expression" and problem.remedy for problem in reports.problems)
    return value, [(problem.code, problem.severity) for problem in reports.problems]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"type": "JavaScript", "value": "getCount() + 1"}, Expression("javascript", "getCount() + 1")),
        ({"type": "Liquid", "value": "{{ Variables.Count }}"}, Expression("liquid", "{{ Variables.Count }}")),
        ({"type": "Object", "value": '["GET"]'}, Expression("object", '["GET"]')),
        ({"type": "Json", "value": "{}"}, Expression("object", "{}")),
        ({"type": "Object", "value": ""}, None),
        ({"type": "Variable", "value": {"id": "v-1", "name": "Count"}}, Expression("variable", "Count")),
        ({"type": "Variable", "value": '{"Id": "v-1"}'}, Expression("variable", "Count")),
        ({"type": "Variable", "value": {"id": "t-2", "name": "Twice"}}, Expression("variable", "t-2")),
        ({"type": "Variable", "value": {"name": "CurrentValue"}}, Expression("variable", "CurrentValue")),
        ({"type": "Input", "value": {"name": "Who", "type": "String"}}, Expression("input", "Who")),
        ({"type": "Input", "value": '{"name": "Who"}'}, Expression("input", "Who")),
        ({"type": "Python", "value": "return variables.Count + 1"}, Expression("python", "variables.Count + 1")),
        ({"type": "Literal", "value": "plain"}, "plain"),
        ({"type": "Literal"}, None),
        ({"value": "no type"}, "no type"),
    ],
)
def test_reading(raw: dict[str, Any], expected: Any) -> None:
    assert _read(raw) == (expected, [])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Variable.Count", Expression("variable", "Count")),
        ("return Variables.Count;", Expression("variable", "Count")),
        ('Variable.Get<int>("Count")', Expression("variable", "Count")),
        ("Input.Who", Expression("input", "Who")),
        ('Inputs.Get("Who")', Expression("input", "Who")),
        ('Output.From<string>("Name","Output1")', Expression("javascript", 'getOutputFrom("Name", "Output1")')),
        ('Output.From("Name")', Expression("javascript", 'getOutputFrom("Name")')),
        ("Output.LastResult", Expression("javascript", "getLastResult()")),
        ("Variables.Count.ToString()", Expression("javascript", 'String(getVariable("Count"))')),
        (
            'return $"{Variables.Count} for {Input.Who}";',
            Expression("javascript", '`${getVariable("Count")} for ${getInput("Who")}`'),
        ),
        ("CorrelationId", Expression("javascript", "getCorrelationId()")),
        ('"text"', "text"),
        ("42", 42),
        ("true", True),
        ("null", None),
    ],
)
def test_trivial_csharp_is_translated(source: str, expected: Any) -> None:
    assert _read({"type": "CSharp", "value": source}) == (expected, [])


@pytest.mark.parametrize(
    "source",
    ["Variable.Count + 1", '$"{Variable.Count:0.00}"', "Variable.Items.Count", 'Variable.Set("X", 1)', "await Run()"],
)
def test_other_csharp_is_kept_and_reported(source: str) -> None:
    assert _read({"type": "CSharp", "value": source}) == (Expression("csharp", source), [("csharp", Severity.ERROR)])


def test_a_python_script_is_kept_with_a_warning() -> None:
    value, problems = _read({"type": "Python", "value": "x = 1\nreturn x"})
    assert value == Expression("python", "x = 1\nreturn x")
    assert problems == [("python-script", Severity.WARNING)]


@pytest.mark.parametrize("language", ["Secret", "Sql", "Cobol"])
def test_languages_without_an_evaluator_are_kept_and_reported(language: str) -> None:
    value, problems = _read({"type": language, "value": "x"})
    assert isinstance(value, Expression)
    assert problems == [("unsupported-language", Severity.ERROR)]
    assert write_expression(value, _NAMES, Reports(), "") == {"type": language, "value": "x"}


def test_a_literal_that_is_not_of_its_type_is_kept_with_a_warning() -> None:
    assert _read({"type": "Literal", "value": "many"}, "Int32") == ("many", [("bad-literal", Severity.WARNING)])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Expression("javascript", "1"), {"type": "JavaScript", "value": "1"}),
        (Expression("literal", 3), {"type": "Literal", "value": 3}),
        (Expression("input", "Who"), {"type": "Input", "value": {"name": "Who"}}),
        ("text", {"type": "Literal", "value": "text"}),
        ([1, "a"], {"type": "Object", "value": '[1, "a"]'}),
        (
            Expression("variable", "Count"),
            {"type": "Variable", "value": {"id": "v-1", "name": "Count", "typeName": "Int64"}},
        ),
        (
            Expression("variable", "t-2"),
            {"type": "Variable", "value": {"id": "t-2", "name": "Twice", "typeName": "Object"}},
        ),
        (Expression("variable", "Loose"), {"type": "Variable", "value": {"id": "Loose", "name": "Loose"}}),
    ],
)
def test_writing(value: Any, expected: dict[str, Any]) -> None:
    reports = Reports()
    assert write_expression(value, _NAMES, reports, "/root/inputs/text") == expected
    assert reports.problems == []


def test_writing_python_warns_and_a_language_of_ours_only_is_an_error() -> None:
    reports = Reports()
    assert write_expression(Expression("python", "a + b"), _NAMES, reports, "/a") == {
        "type": "Python",
        "value": "a + b",
    }
    assert write_expression(Expression("code", "f"), _NAMES, reports, "/b") == {"type": "code", "value": "f"}
    assert [(problem.path, problem.severity) for problem in reports.problems] == [
        ("/a", Severity.WARNING),
        ("/b", Severity.ERROR),
    ]
