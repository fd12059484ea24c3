"""What is kept of a foreign document, and when it gives way to later edits."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from holdfast.elsa.round_trip import difference, restore

_LEAVES = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3)
_KEYS = st.sampled_from(["id", "name", "label", "type", "value", "expression", "a/b", "~", "", "text"])
_JSON = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=15,
)
_OBJECTS = st.dictionaries(_KEYS, _JSON, max_size=5)


@given(canonical=_OBJECTS, document=_OBJECTS)
def test_any_document_comes_back_from_any_canonical_form(canonical: dict[str, Any], document: dict[str, Any]) -> None:
    assert restore(canonical, difference(canonical, document)) == document


def test_nothing_is_kept_of_a_document_in_canonical_form() -> None:
    document = {"id": "a", "text": {"typeName": "String", "expression": {"type": "Literal", "value": "x"}}}
    assert difference(document, document) == {}


def test_each_kind_of_difference_stands_in_its_table() -> None:
    residue = difference({"version": 1, "name": "n"}, {"version": 2, "nodeId": "Workflow1:n"})
    assert residue == {
        "keep": {"/nodeId": "Workflow1:n"},
        "spelled": {"/version": [1, 2]},
        "absent": {"/name": "n"},
    }


def test_an_edit_is_not_overruled_by_the_spelling_of_the_past() -> None:
    residue = difference({"value": 4}, {"value": "4"})
    assert restore({"value": 4}, residue) == {"value": "4"}
    assert restore({"value": 5}, residue) == {"value": 5}


def test_a_kept_value_gives_way_when_its_place_is_taken_or_gone() -> None:
    residue = difference({"text": {}}, {"text": {"memoryReference": 1}, "body": None})
    assert restore({"text": {}, "body": {"id": "b"}}, residue) == {"text": {"memoryReference": 1}, "body": {"id": "b"}}
    assert restore({}, residue) == {"body": None}


def test_a_value_that_the_document_left_out_is_written_once_it_changes() -> None:
    residue = difference({"isLatest": True}, {})
    assert restore({"isLatest": True}, residue) == {}
    assert restore({"isLatest": False}, residue) == {"isLatest": False}


def test_an_expression_is_replaced_as_a_whole() -> None:
    ours = {"expression": {"type": "Variable", "value": {"name": "X"}}}
    residue = difference(ours, {"expression": {"type": "CSharp", "value": "Variable.X"}})
    edited = {"expression": {"type": "Variable", "value": {"name": "Y"}}}
    assert restore(edited, residue) == edited


def test_items_of_a_list_are_told_apart_by_name_so_that_another_may_come_before_them() -> None:
    residue = difference({"variables": [{"name": "A"}]}, {"variables": [{"name": "A", "isArray": False}]})
    edited = {"variables": [{"name": "New"}, {"name": "A"}]}
    assert restore(edited, residue) == {"variables": [{"name": "New"}, {"name": "A", "isArray": False}]}
