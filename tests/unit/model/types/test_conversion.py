from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Any
from uuid import UUID

import pydantic
import pytest
from hypothesis import given, strategies as st

from holdfast.model.types import BUILT_IN, conforms, convert, fit, is_known_type, parse_type
from holdfast.model.values import TypeRegistry


class Colour(Enum):
    RED = "r"


class Word(StrEnum):
    YES = "yes"


@dataclass
class Line:
    amount: int
    colour: Colour = Colour.RED


class Model(pydantic.BaseModel):
    line: Line


TYPES = TypeRegistry([Line, Model])
LINE, COLOUR, MODEL = (TYPES.name_of(cls) for cls in (Line, Colour, Model))
ID = UUID("12345678123456781234567812345678")


@pytest.mark.parametrize(
    ("value", "type_name", "wanted"),
    [
        ("5", "integer", 5),
        (" 5.0 ", "integer", 5),
        (5.0, "integer", 5),
        (True, "integer", 1),
        ("1.5", "number", 1.5),
        ("7", "number", 7),
        (Decimal("1.5"), "number", 1.5),
        ("1.10", "decimal", Decimal("1.10")),
        (1.1, "decimal", Decimal("1.1")),
        ("TRUE", "boolean", True),
        ("0", "boolean", False),
        (2, "boolean", True),
        ("aGk=", "bytes", b"hi"),
        ("2031-05-01T12:00:00Z", "datetime", datetime(2031, 5, 1, 12, tzinfo=UTC)),
        ("2031-05-01T12:00:00", "datetime", datetime(2031, 5, 1, 12, tzinfo=UTC)),
        (date(2031, 5, 1), "datetime", datetime(2031, 5, 1, tzinfo=UTC)),
        ("2031-05-01", "date", date(2031, 5, 1)),
        (datetime(2031, 5, 1, 12, tzinfo=UTC), "date", date(2031, 5, 1)),
        ("12:30", "time", time(12, 30)),
        ("00:00:05", "duration", timedelta(seconds=5)),
        ("1.00:00:05", "duration", timedelta(days=1, seconds=5)),
        ("PT5S", "duration", timedelta(seconds=5)),
        (str(ID), "uuid", ID),
        ('{"a": 1}', "object", {"a": 1}),
        ("[1, 2]", "list", [1, 2]),
        ("one", "list", ["one"]),
        ("", "list", []),
        ({1}, "list", [1]),
        (["1", 2], "list[integer]", [1, 2]),
        ('[["1"]]', "list[list[integer]]", [[1]]),
        (5, "string", "5"),
        (True, "string", "True"),
        (Decimal("1E+2"), "string", "100"),
        (Word.YES, "string", "yes"),
        (Colour.RED, "string", "r"),
        ({"a": [1]}, "string", '{"a":[1]}'),
        (timedelta(seconds=5), "string", "PT5S"),
        (b"hi", "string", "aGk="),
        (datetime(2031, 5, 1, tzinfo=UTC), "string", "2031-05-01T00:00:00+00:00"),
        ("", "integer", None),
        ("  ", "datetime", None),
        (None, "integer", None),
        ("RED", COLOUR, Colour.RED),
        ("r", COLOUR, Colour.RED),
        ({"amount": 1}, LINE, Line(1)),
        ('{"amount": "2", "colour": "r"}', LINE, Line(2)),
        ({"line": {"amount": 3}}, MODEL, Model(line=Line(3))),
        ([{"amount": 1}], f"list[{LINE}]", [Line(1)]),
        (object, "any", object),
    ],
)
def test_lenient_conversion(value: Any, type_name: str, wanted: Any) -> None:
    found = convert(value, type_name, TYPES)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("value", "type_name", "message"),
    [
        ("five", "integer", "whole number"),
        (5.5, "integer", "whole number"),
        ("1e999999", "integer", "integer"),
        (float("nan"), "integer", "integer"),
        ([], "number", "number"),
        ("maybe", "boolean", "true or false"),
        ("no base64", "bytes", "base64"),
        ("tomorrow", "datetime", "offset"),
        (5, "duration", "PT30S"),
        ("x", "uuid", "32"),
        ("[1]", "object", "object"),
        ("{", "object", "not valid JSON"),
        (5, "list", "list"),
        (["x"], "list[integer]", "Item 0"),
        ("BLUE", COLOUR, "RED"),
        ({"amount": "many"}, LINE, "amount"),
        (5, LINE, "fields of Line"),
        ({}, "other:Class", "not registered"),
        (1, "list[", "is not a type"),
    ],
)
def test_what_cannot_be_converted_says_what_to_do(value: Any, type_name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        convert(value, type_name, TYPES)


@pytest.mark.parametrize(
    ("value", "type_name", "wanted"),
    [
        (5, "number", 5),
        (5.0, "integer", 5),
        ("1.5", "decimal", Decimal("1.5")),
        ("2031-05-01T12:00:00+02:00", "datetime", datetime(2031, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))),
        (None, "integer?", None),
        (None, "any", None),
        ({"amount": 1}, LINE, Line(1)),
        (["2031-05-01"], "list[date]", [date(2031, 5, 1)]),
    ],
)
def test_fitting_loses_nothing(value: Any, type_name: str, wanted: Any) -> None:
    assert fit(value, type_name, TYPES) == wanted


@pytest.mark.parametrize(
    ("value", "type_name"),
    [
        ("5", "integer"),
        (True, "integer"),
        (5.5, "integer"),
        (1, "boolean"),
        ("true", "boolean"),
        (5, "string"),
        ("1.5", "number"),
        ("2031-05-01T12:00:00", "datetime"),
        ("", "date"),
        ('{"a": 1}', "object"),
        ("one", "list"),
        (None, "integer"),
        ([None], "list[integer]"),
        ({"amount": "1"}, LINE),
    ],
)
def test_fitting_guesses_nothing(value: Any, type_name: str) -> None:
    with pytest.raises(ValueError):
        fit(value, type_name, TYPES)


def test_conforming() -> None:
    assert conforms(1, "integer")
    assert not conforms(True, "integer")
    assert conforms(True, "boolean")
    assert conforms(None, "integer?")
    assert not conforms(None, "integer")
    assert conforms([1, 2], "list[integer]")
    assert not conforms([1, "2"], "list[integer]")
    assert not conforms(datetime(2031, 5, 1), "datetime")  # noqa: DTZ001 - a naive one is the point
    assert not conforms(datetime(2031, 5, 1, tzinfo=UTC), "date")
    assert conforms(Line(1), "object")
    assert conforms(Line(1), LINE, TYPES)
    assert conforms(Line(1), LINE)
    assert not conforms(Line(1), COLOUR, TYPES)


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.decimals(),
    st.datetimes(),
    st.dates(),
    st.times(),
    st.timedeltas(),
    st.uuids(),
    st.lists(st.text()),
    st.dictionaries(st.text(), st.text()),
)


@given(scalars, st.sampled_from([*sorted(BUILT_IN), "list[integer]", "list[date?]", LINE, COLOUR]))
def test_conversion_converts_or_raises_value_error_and_then_conforms(value: Any, type_name: str) -> None:
    for way in (convert, fit):
        try:
            found = way(value, type_name, TYPES)
        except ValueError:
            continue
        assert found is None or conforms(found, type_name, TYPES) or type_name == "list[integer]"


@given(st.text(alphabet="list[]?anydate: .", max_size=30))
def test_any_text_is_a_type_or_a_value_error(text: str) -> None:
    try:
        name = parse_type(text)
    except ValueError:
        assert not is_known_type(text)
    else:
        assert parse_type(str(name)) == name


def test_known_types() -> None:
    assert is_known_type("list[string?]?")
    assert is_known_type("some.module:Class")
    assert not is_known_type("strng")
    assert is_known_type(LINE, TYPES)
    assert not is_known_type("some.module:Class", TYPES)
    assert not is_known_type("list[" * 100 + "any" + "]" * 100)
