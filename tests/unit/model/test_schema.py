from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from holdfast.model.descriptor import ActivityDescriptor, InputDescriptor, OutputDescriptor, PortDescriptor, PortKind
from holdfast.model.parse.nodes import OWN_KEYS
from holdfast.model.reader import ROOT_KEYS, read_definition
from holdfast.model.schema import DIALECT, definition_schema
from holdfast.model.types import describe


@dataclass
class Line:
    amount: int


DESCRIPTORS = [
    ActivityDescriptor(
        type="shop/Reserve Line",
        description="Reserves.",
        inputs=(
            InputDescriptor(name="line", schema=describe(Line)[1], required=True),
            InputDescriptor(name="count", type="integer", schema={"type": "integer"}, default=1),
        ),
        outputs=(OutputDescriptor(name="result"),),
        ports=(PortDescriptor(name="then"), PortDescriptor(name="cases", kind=PortKind.ENTRIES)),
    ),
    ActivityDescriptor(type="Sequence", ports=(PortDescriptor(name="activities", kind=PortKind.MANY),)),
]


def document(**keys: Any) -> dict[str, Any]:
    return {"id": "d", "root": {"type": "Sequence", **keys}}


def reserve(**keys: Any) -> dict[str, Any]:
    return {"id": "d", "root": {"type": "shop/Reserve Line", "inputs": {"line": {"amount": 1}}, **keys}}


GOOD = [
    document(),
    {"name": "By name", "format": "holdfast/definition@1", "root": {"type": "Unknown", "inputs": {"any": [1]}}},
    document(activities=[{"type": "Sequence", "id": "a", "inputs": None}]),
    document(connections=[{"from": "a", "to": "b", "delay": "PT5S", "outcome": None}]),
    document(options={"retry": {"attempts": 3, "delay": "00:00:05"}, "merge": "race", "journal": None}),
    {**document(), "variables": [{"name": "x", "type": "date?", "default": {"$t": "date", "v": "2031-01-01"}}]},
    {**document(), "inputs": [{"name": "x", "required": True}], "options": {"activation": "singleton"}, "own": 1},
    reserve(),
    reserve(inputs={"line": {"$python": "x"}, "count": "5"}, outputs={"result": "x"}, then=None, cases=[{"label": 1}]),
]
BAD = [
    5,
    {},
    {"id": "d"},
    {"root": {"type": "Sequence"}},
    {"id": "", "root": {"type": "Sequence"}},
    {"id": "d", "root": {"inputs": {}}},
    {"id": "d", "format": "other", "root": {"type": "Sequence"}},
    document(inputs={"a": {"$code": "1"}}),
    document(inputs={"a": {"$python": 1}}),
    document(inputs=[]),
    document(options={"merge": "mix"}),
    document(options={"unknown": 1}),
    document(connections=[{"from": "a"}]),
    {**document(), "inputs": [{"nam": "x"}]},
    {**document(), "options": {"flowchart_mode": "x", "activation": 5}},
]
BAD_FOR_DESCRIPTORS = [
    document(activities={"type": "Sequence"}),
    reserve(inputs={}),
    reserve(inputs={"line": {"amount": "many"}}),
    reserve(inputs={"line": {"amount": 1}, "other": 1}),
    reserve(outputs={"other": "x"}),
    reserve(then={"id": "no type"}),
]


def test_the_schema_names_every_key_of_the_format() -> None:
    schema = definition_schema()
    assert schema["$schema"] == DIALECT
    assert set(schema["properties"]) == {"$schema", *ROOT_KEYS}
    assert set(schema["$defs"]["activity"]["properties"]) == set(OWN_KEYS)


def test_documents_against_the_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    plain = jsonschema.Draft202012Validator(definition_schema())
    full = jsonschema.Draft202012Validator(definition_schema(DESCRIPTORS))
    for validator in (plain, full):
        validator.check_schema(validator.schema)
    for good in GOOD:
        assert [error.message for error in plain.iter_errors(good)] == []
        assert [error.message for error in full.iter_errors(good)] == []
    for bad in BAD:
        assert not plain.is_valid(bad), bad
        assert not full.is_valid(bad), bad
    for bad in BAD_FOR_DESCRIPTORS:
        assert plain.is_valid(bad), bad
        assert not full.is_valid(bad), bad


@pytest.mark.parametrize("good", GOOD)
def test_what_the_schema_takes_the_reader_takes(good: Any) -> None:
    assert read_definition(good)[1] == []


@pytest.mark.parametrize("bad", BAD)
def test_what_the_schema_refuses_the_reader_refuses(bad: Any) -> None:
    assert read_definition(bad)[1] != []
