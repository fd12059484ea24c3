"""Answers against forms: every problem with its path, nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from holdfast.model.forms import check_answer, form_of


@dataclass
class Line:
    article: str
    pieces: int = 1


@dataclass
class Order:
    customer: str
    lines: list[Line] = field(default_factory=list)
    parent: Order | None = None


def found(answer: Any, form: Any) -> list[tuple[str, str]]:
    return [(problem.path, problem.code) for problem in check_answer(answer, form)]


@pytest.mark.parametrize(
    ("form", "good", "bad", "problems"),
    [
        ({"type": "string"}, "x", 1, [("", "wrong-type")]),
        ({"type": "integer"}, 1, True, [("", "wrong-type")]),
        ({"type": "integer"}, 1.0, 1.5, [("", "wrong-type")]),
        ({"type": ["string", "null"]}, None, [], [("", "wrong-type")]),
        ({"enum": ["a", 1]}, 1, True, [("", "not-a-choice")]),
        ({"const": 5}, 5, 6, [("", "not-a-choice")]),
        ({"type": "string", "minLength": 2, "maxLength": 3}, "ab", "a", [("", "too-short")]),
        ({"maxLength": 3}, "abc", "abcd", [("", "too-long")]),
        ({"pattern": "^[A-Z]+$"}, "AB", "ab", [("", "pattern")]),
        ({"format": "date"}, "2026-01-31", "2026-02-31", [("", "format")]),
        ({"format": "email"}, "a@b", "@b", [("", "format")]),
        ({"minimum": 1, "maximum": 3}, 1, 0, [("", "too-small")]),
        ({"exclusiveMaximum": 3}, 2.9, 3, [("", "too-large")]),
        ({"multipleOf": 0.01}, 1.23, 1.234, [("", "step")]),
        (
            {"items": {"type": "integer"}, "minItems": 1},
            [1],
            ["a", 2, "b"],
            [("/0", "wrong-type"), ("/2", "wrong-type")],
        ),
        ({"minItems": 1}, [1], [], [("", "too-few")]),
        ({"maxItems": 1}, [1], [1, 2], [("", "too-many")]),
        ({"uniqueItems": True}, [1, 2], [1, 1], [("", "repeated")]),
        ({"required": ["a", "b/c"]}, {"a": 1, "b/c": 2}, {}, [("/a", "missing"), ("/b~1c", "missing")]),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}, {"b": 1}, [("/b", "unknown")]),
        ({"additionalProperties": {"type": "string"}}, {"a": "x"}, {"a": 1}, [("/a", "wrong-type")]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None, 1, [("", "wrong-type")]),
        ({"oneOf": [{"minimum": 1}, {"maximum": 5}]}, 7, 3, [("", "ambiguous")]),
        ({"allOf": [{"minimum": 1}, {"maximum": 5}]}, 3, 7, [("", "too-large")]),
    ],
)
def test_what_fits_and_what_does_not(form: Any, good: Any, bad: Any, problems: list[tuple[str, str]]) -> None:
    assert found(good, form) == []
    assert found(bad, form) == problems


def test_no_form_takes_anything() -> None:
    assert check_answer({"x": object()}, None) == []


def test_a_class_is_a_form_with_its_fields_on_top() -> None:
    form = form_of(Order)

    assert set(form["properties"]) == {"customer", "lines", "parent"}
    assert found({"customer": "a", "lines": [{"article": "x"}], "parent": {"customer": "b"}}, form) == []
    assert found({"customer": "a", "lines": [{"pieces": "two"}], "parent": {}}, form) == [
        ("/lines/0/article", "missing"),
        ("/lines/0/pieces", "wrong-type"),
        ("/parent/customer", "missing"),
    ]
    assert form_of(Line)["properties"]["article"] == {"type": "string"}
    assert "$defs" not in form_of(Line)
