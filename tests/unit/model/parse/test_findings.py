"""Problems that are collected while a document is read, and ids for activities without one."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.model.parse.findings import Findings, kind_of


def findings(*used: str) -> Findings:
    return Findings(None, trusted=False, used_ids=set(used))


def test_an_id_is_made_of_the_type_and_is_not_in_use() -> None:
    found = findings("WriteLine1")

    assert [found.id_for(name) for name in ("WriteLine", "WriteLine", "shop.mail:Send", "…")] == [
        "WriteLine2", "WriteLine3", "Send1", "Activity1",
    ]  # fmt: skip


def test_a_value_of_the_wrong_kind_is_a_problem_with_its_remedy() -> None:
    found = findings()
    found.wrong_kind("/root/inputs", "The inputs", "an object", [])

    assert str(found.problems[0]) == "/root/inputs: The inputs must be an object, not a list. Write an object here."


def test_a_value_with_an_unknown_tag_stays_and_is_a_problem() -> None:
    found, raw = findings(), {"$t": "shop:Order", "v": {}}

    assert found.literal({"$t": "duration", "v": "PT3H"}, "/a").total_seconds() == 3 * 3600
    assert found.literal(raw, "/b") == raw
    assert [(problem.path, problem.code) for problem in found.problems] == [("/b", "invalid-value")]


def test_a_text_that_no_column_stores_is_a_problem() -> None:
    found = findings()
    found.storable("fine", "The name", "/a")
    found.storable("a\0b", "The name", "/b")

    assert [(problem.path, problem.code) for problem in found.problems] == [("/b", "unstorable-text")]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "a boolean"),
        (1.5, "a number"),
        ("x", "text"),
        ([], "a list"),
        ({}, "an object"),
        (b"", "bytes"),
    ],
)
def test_kinds_are_named_as_in_json(value: Any, name: str) -> None:
    assert kind_of(value) == name
