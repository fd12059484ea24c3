"""Type names of three vintages, and literals that are text of a type."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from holdfast.elsa.types import elsa_type, from_literal, our_type, parse_type, to_json, to_text
from holdfast.model.types import BUILT_IN

_CORELIB = "System.Private.CoreLib, Version=8.0.0.0, Culture=neutral, PublicKeyToken=7cec85d7bea7798e"


@pytest.mark.parametrize(
    ("elsa", "ours"),
    [
        ("Int32", "integer"),
        ("Int64", "integer"),
        ("Long", "integer"),
        ("Double", "number"),
        ("Decimal", "decimal"),
        ("Boolean", "boolean"),
        ("String", "string"),
        ("Guid", "uuid"),
        ("TimeSpan", "duration"),
        ("DateTimeOffset", "datetime"),
        ("ByteArray", "bytes"),
        ("Byte[]", "bytes"),
        ("Object", "any"),
        ("JSON", "any"),
        ("ObjectDictionary", "object"),
        ("IDictionary<String, Object>", "object"),
        ("Int32?", "integer?"),
        ("String[]", "list[string]"),
        ("Object[]", "list"),
        ("List<String>", "list[string]"),
        ("ICollection<ICollection<Int32>>", "list[list[integer]]"),
        ("System.Int32", "integer"),
        (f"System.Int32, {_CORELIB}", "integer"),
        ("System.Net.HttpStatusCode, System.Net.Primitives", "any"),
        (f"System.Collections.Generic.ICollection`1[[System.String, {_CORELIB}]], {_CORELIB}", "list[string]"),
        (f"System.Nullable`1[[System.Int32, {_CORELIB}]], {_CORELIB}", "integer?"),
        (
            f"System.Collections.Generic.IDictionary`2[[System.String, {_CORELIB}],[System.Object, {_CORELIB}]], {_CORELIB}",
            "object",
        ),
        ("Acme.Orders.Order, Acme", None),
        (None, "any"),
    ],
)
def test_type_names_of_every_vintage(elsa: str | None, ours: str | None) -> None:
    assert our_type(elsa) == ours


def test_the_old_array_flag_makes_a_list_once() -> None:
    assert our_type("Int32", is_array=True) == "list[integer]"
    assert our_type("Int32[]", is_array=True) == "list[integer]"


@pytest.mark.parametrize(
    "ours",
    [*sorted(BUILT_IN), "list[integer]", "list[list[string]]", "integer?", "duration?"],
)
def test_our_types_come_back_from_elsas_aliases(ours: str) -> None:
    assert our_type(elsa_type(ours)) == ours


@pytest.mark.parametrize(
    ("value", "type_name", "expected"),
    [
        ("4", "Int32", 4),
        (4, "Int32", 4),
        ("false", "Boolean", False),
        ("True", "Boolean", True),
        ("2.5", "Double", 2.5),
        ("12.990", "Decimal", Decimal("12.990")),
        ("00:05:00", "TimeSpan", timedelta(minutes=5)),
        ("1.02:03:04.5", "TimeSpan", timedelta(days=1, hours=2, minutes=3, seconds=4.5)),
        ("2026-03-01T08:30:00+00:00", "DateTimeOffset", datetime(2026, 3, 1, 8, 30, tzinfo=UTC)),
        ("5f0c7a3e-3a52-4d2b-9f7e-0a4f6d1c2b3a", "Guid", UUID("5f0c7a3e-3a52-4d2b-9f7e-0a4f6d1c2b3a")),
        ("Success", "Object", "Success"),
        ('{"a": 1}', "Object", '{"a": 1}'),
        ('{"a": 1}', "ObjectDictionary", {"a": 1}),
        ('["GET"]', "String[]", ["GET"]),
        ("GET", "ICollection<String>", ["GET"]),
        ("OK", "HttpStatusCode", 200),
        ("NotFound", "System.Net.HttpStatusCode, System.Net.Primitives", 404),
        ("503", "HttpStatusCode", 503),
        ("", "Int32", None),
        (None, "String", None),
    ],
)
def test_literals_are_converted_to_their_type(value: Any, type_name: str, expected: Any) -> None:
    converted = from_literal(value, parse_type(type_name))
    assert converted == expected
    assert type(converted) is type(expected)


@pytest.mark.parametrize(
    ("value", "type_name"), [("many", "Int32"), ("soon", "TimeSpan"), ("Lukewarm", "HttpStatusCode")]
)
def test_text_that_is_none_of_its_type_is_refused(value: str, type_name: str) -> None:
    with pytest.raises(ValueError, match=value):
        from_literal(value, parse_type(type_name))


def test_values_are_written_as_elsa_writes_them() -> None:
    assert to_json(timedelta(days=1, hours=2, seconds=3)) == "1.02:00:03"
    assert to_json(-timedelta(minutes=5)) == "-00:05:00"
    assert to_json({"at": datetime(2026, 3, 1, tzinfo=UTC), "raw": b"\x00\x01"}) == {
        "at": "2026-03-01T00:00:00+00:00",
        "raw": "AAE=",
    }
    assert to_text(3) == "3"
    assert to_text(True) == "true"
    assert to_text([1, "a"]) == '[1, "a"]'
