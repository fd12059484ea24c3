from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from holdfast.errors import InvalidInput
from holdfast.model.definition import ActivityNode, Definition, InputDeclaration
from holdfast.model.inputs import check_inputs

DEFAULT = {"a": [1]}
ORDER = Definition(
    id="order",
    root=ActivityNode(id="a", type="Sequence"),
    inputs=(
        InputDeclaration(name="id", type="string", required=True),
        InputDeclaration(name="count", type="integer", default=3),
        InputDeclaration(name="due", type="datetime"),
        InputDeclaration(name="data", default=DEFAULT),
        InputDeclaration(name="tags", type="list[string]"),
    ),
)


def test_the_mapping_is_complete_with_defaults_and_conversions() -> None:
    assert check_inputs(ORDER, {"id": "o1", "due": "2031-05-01T00:00:00Z"}) == {
        "id": "o1",
        "count": 3,
        "due": datetime(2031, 5, 1, tzinfo=UTC),
        "data": {"a": [1]},
        "tags": None,
    }


def test_given_values_and_defaults_are_copied() -> None:
    tags = ["a"]
    taken = check_inputs(ORDER, {"id": "o1", "tags": tags})
    taken["tags"].append("b")
    taken["data"]["a"].append(2)
    assert tags == ["a"]
    assert DEFAULT == {"a": [1]}


def test_all_problems_come_at_once() -> None:
    given: dict[str, Any] = {"count": "5", "dew": 1, "data": print, "tags": ["a", 1], "x/y": 1}
    with pytest.raises(InvalidInput) as caught:
        check_inputs(ORDER, given)
    found = {(problem.path, problem.code) for problem in caught.value.problems}
    assert found == {
        ("/id", "missing-input"),
        ("/count", "wrong-type"),
        ("/data", "value-refused"),
        ("/tags", "wrong-type"),
        ("/dew", "unknown-input"),
        ("/x~1y", "unknown-input"),
    }
    assert "Did you mean 'due'?" in str(caught.value)


def test_nothing_for_an_optional_input_is_nothing() -> None:
    assert check_inputs(ORDER, {"id": "o1", "count": None})["count"] is None


def test_nothing_for_a_required_input_is_missing() -> None:
    with pytest.raises(InvalidInput, match="required"):
        check_inputs(ORDER, {"id": None})


def test_a_definition_without_inputs_says_so() -> None:
    empty = Definition(id="e", root=ORDER.root)
    assert check_inputs(empty, {}) == {}
    with pytest.raises(InvalidInput, match="takes no inputs"):
        check_inputs(empty, {"a": 1})
