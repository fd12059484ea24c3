from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NewType, Optional, TypedDict, Union

import msgspec
import pydantic
import pytest

from holdfast.model.types import describe, schema_of
from holdfast.model.values import TypeRegistry


class Colour(Enum):
    RED = "r"


@dataclass
class Line:
    amount: int
    colours: list[Colour]


class Point(msgspec.Struct):
    x: float


class Model(pydantic.BaseModel):
    name: str


class Shape(TypedDict):
    sides: int


class Odd:
    pass


OrderId = NewType("OrderId", str)


@pytest.mark.parametrize(
    ("annotation", "name", "schema"),
    [
        (str, "string", {"type": "string"}),
        (int, "integer", {"type": "integer"}),
        (float, "number", {"type": "number"}),
        (bool, "boolean", {"type": "boolean"}),
        (Decimal, "decimal", {"type": ["string", "number"], "format": "decimal"}),
        (datetime, "datetime", {"type": "string", "format": "date-time"}),
        (timedelta, "duration", {"type": "string", "format": "duration"}),
        (Any, "any", {}),
        (None, "any", {"type": "null"}),
        (OrderId, "string", {"type": "string"}),
        (Annotated[int, "note"], "integer", {"type": "integer"}),
        (int | None, "integer?", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Optional[str], "string?", {"anyOf": [{"type": "string"}, {"type": "null"}]}),  # noqa: UP045 - the old form
        (Union[int, str], "any", {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007 - the old form
        (list[int], "list[integer]", {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], "list[string]", {"type": "array", "items": {"type": "string"}}),
        (tuple[int, ...], "list[integer]", {"type": "array", "items": {"type": "integer"}}),
        (tuple[int, str], "list", {"type": "array"}),
        (list[Any], "list", {"type": "array"}),
        (dict[str, int], "object", {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Mapping[str, Any], "object", {"type": "object"}),
        (set[str], "any", {"type": "array", "uniqueItems": True, "items": {"type": "string"}}),
        (Literal["a", "b"], "string", {"enum": ["a", "b"]}),
        (Literal["a", 1], "any", {"enum": ["a", 1]}),
        (Colour, f"{__name__}:Colour", {"enum": ["r"]}),
        (Odd, "any", {}),
        ("text", "any", {}),
    ],
)
def test_annotations(annotation: Any, name: str, schema: dict[str, Any]) -> None:
    assert describe(annotation) == (name, schema)


def test_classes_have_their_fields_in_the_schema() -> None:
    name, schema = describe(Line)
    assert name == f"{__name__}:Line"
    assert "amount" in str(schema)
    assert describe(Point)[1]["$defs"]["Point"]["properties"] == {"x": {"type": "number"}}
    assert describe(Model)[1]["properties"]["name"]["type"] == "string"
    assert describe(Shape)[0] == "object"


def test_a_registered_class_goes_by_its_public_name() -> None:
    types = TypeRegistry()
    types.register(Line, name="line")
    assert describe(list[Line], types)[0] == "list[line]"
    assert schema_of("line", types)["$defs"]["Line"]["required"] == ["amount", "colours"]
    assert schema_of("list[line]?")["anyOf"][0]["type"] == "array"
    assert schema_of("other:Class") == {"type": "object"}


def test_a_class_inside_a_function_cannot_be_named_but_is_described() -> None:
    @dataclass
    class Local:
        x: int

    name, schema = describe(Local)
    assert name.endswith("<locals>.Local")
    assert schema
