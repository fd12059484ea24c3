"""Conversion of type names and of literals written as text.

Elsa has used three generations of type names, which may be mixed in one file:

    alias               Int32, String[], List<String>, IDictionary<String, Object>, Int32?
    short CLR name      System.Int32, System.Int32, System.Private.CoreLib
    assembly-qualified  System.Collections.Generic.ICollection`1[[System.String, System.Private.CoreLib, …]], …
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from http import HTTPStatus
from typing import Any
from uuid import UUID

from msgspec import Struct

from holdfast.model.types import convert

OURS: Mapping[str, str] = {
    "String": "string",
    "Char": "string",
    "Boolean": "boolean",
    "Byte": "integer",
    "Int16": "integer",
    "Int32": "integer",
    "Int64": "integer",
    "Long": "integer",
    "UInt16": "integer",
    "UInt32": "integer",
    "UInt64": "integer",
    "Single": "number",
    "Double": "number",
    "Decimal": "decimal",
    "ByteArray": "bytes",
    "Guid": "uuid",
    "DateTime": "datetime",
    "DateTimeOffset": "datetime",
    "DateOnly": "date",
    "TimeOnly": "time",
    "TimeSpan": "duration",
    "Object": "any",
    "JSON": "any",
    "ExpandoObject": "any",
    "JsonElement": "any",
    "JsonNode": "any",
    "JsonObject": "object",
    "JsonArray": "list",
    "StringDictionary": "object",
    "ObjectDictionary": "object",
    "StringMap": "object",
    "ObjectMap": "object",
    "Dictionary": "object",
    "IDictionary": "object",
    "IReadOnlyDictionary": "object",
    "HttpHeaders": "object",
    "RouteData": "object",
    "List": "list",
    "IList": "list",
    "HashSet": "list",
    "ISet": "list",
    "Collection": "list",
    "ICollection": "list",
    "IEnumerable": "list",
    "IReadOnlyCollection": "list",
    "IReadOnlyList": "list",
    "Stream": "any",
    "HttpRequest": "any",
    "HttpResponse": "any",
    "HttpResponseMessage": "any",
    "HttpStatusCode": "any",
    "FormFile": "any",
    "FormFiles": "any",
    "HttpFile": "any",
    "HttpFiles": "any",
    "Downloadable": "any",
    "Downloadables": "any",
}

ELSAS: Mapping[str, str] = {
    "string": "String",
    "boolean": "Boolean",
    "integer": "Int64",
    "number": "Double",
    "decimal": "Decimal",
    "bytes": "ByteArray",
    "uuid": "Guid",
    "datetime": "DateTimeOffset",
    "date": "DateOnly",
    "time": "TimeOnly",
    "duration": "TimeSpan",
    "list": "Object[]",
    "object": "ObjectDictionary",
    "any": "Object",
}
_VALUE_TYPES = frozenset({"boolean", "integer", "number", "decimal", "uuid", "datetime", "date", "time", "duration"})
_REFERENCE_TYPES = frozenset({"String", "Object", "Object[]", "ObjectDictionary", "ByteArray"})
"""Types that can hold null."""


class ElsaType(Struct, frozen=True):
    """A parsed type name: its last part and its type arguments (the last one is the item type of a list)."""

    name: str
    arguments: tuple[ElsaType, ...] = ()

    nullable: bool = False

    @property
    def ours(self) -> str | None:
        """Our name for the type; None if it is unknown."""
        name = OURS.get(self.name)
        if name == "list" and self.arguments:
            item = self.arguments[-1].ours
            return f"list[{item}]" if item and item != "any" else "list"
        return f"{name}?" if name and self.nullable and name != "any" else name

    @property
    def holds_no_null(self) -> bool:
        """Whether Elsa reads null or blank text of this type as its default."""
        return self.name == "HttpStatusCode" or OURS.get(self.name) in _VALUE_TYPES


def parse_type(text: str, *, is_array: bool = False) -> ElsaType:
    parsed = _parse(text.strip())
    return ElsaType("List", (parsed,)) if is_array and OURS.get(parsed.name) != "list" else parsed


def our_type(text: str | None, *, is_array: bool = False) -> str | None:
    """Our name for an Elsa type name of any generation; None if the type is unknown."""
    return parse_type(text, is_array=is_array).ours if text else "any"


def elsa_type(ours: str) -> str:
    """Elsa's alias for one of our types. A type that Elsa lacks is an `Object`."""
    if ours.endswith("?"):
        inner = elsa_type(ours[:-1])
        return inner if inner in _REFERENCE_TYPES else f"{inner}?"
    if ours.startswith("list[") and ours.endswith("]"):
        return f"{elsa_type(ours[5:-1])}[]"
    return ELSAS.get(ours, "Object")


def _parse(text: str) -> ElsaType:
    generic = re.match(r"^(?P<name>[\w.+]+)`\d+\[(?P<arguments>.*)\]", text, re.DOTALL)
    if generic:
        arguments = [_parse(part.strip("[] ")) for part in _split(generic["arguments"]) if part]
        return _generic(generic["name"], arguments)
    angled = re.match(r"^(?P<name>[\w.+]+)<(?P<arguments>.*)>(?P<suffix>\??(\[\])?)", text, re.DOTALL)
    if angled:
        arguments = [_parse(part.strip()) for part in _split(angled["arguments"])]
        inner = _generic(angled["name"], arguments)
        return ElsaType("List", (inner,)) if angled["suffix"].endswith("[]") else inner
    name = text.partition(",")[0].strip()
    if name.endswith("[]"):
        item = _parse(name[:-2])
        return ElsaType("ByteArray") if item.name == "Byte" else ElsaType("List", (item,))
    return ElsaType(_last_part(name.removesuffix("?")), nullable=name.endswith("?"))


def _last_part(name: str) -> str:
    return re.split(r"[.+]", name)[-1]


def _generic(name: str, arguments: list[ElsaType]) -> ElsaType:
    if _last_part(name) == "Nullable" and arguments:
        return ElsaType(arguments[0].name, arguments[0].arguments, nullable=True)
    return ElsaType(_last_part(name), tuple(arguments))


def _split(text: str) -> list[str]:
    """Split at commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for index, char in enumerate(text):
        depth += (char in "[<") - (char in "]>")
        if char == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*(part.strip() for part in parts), text[start:].strip()]


# -- literals ----------------------------------------------------------------------------------------------------------


def from_literal(value: Any, wanted: ElsaType) -> Any:
    """Convert a literal to the wanted type. Blank text is None. Raises ValueError for invalid text."""
    if wanted.name == "HttpStatusCode":
        return _status_code(value)
    return convert(value, wanted.ours or "any")


def _status_code(value: Any) -> Any:
    """`OK`, `NotFound`, `"404"` or 404 → the number."""
    if not isinstance(value, str) or not value.strip():
        return value or None
    if value.strip().isdigit():
        return int(value)
    wanted = value.strip().lower()
    for status in HTTPStatus:
        if status.name.replace("_", "").lower() == wanted:
            return int(status)
    raise ValueError(f"'{value}' is not the name of an HTTP status code.")


def to_json(value: Any) -> Any:
    """A value in Elsa's JSON form."""
    if isinstance(value, Enum):
        return to_json(value.value)
    if isinstance(value, timedelta):
        return _written_span(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, UUID | Decimal):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(item) for item in value]
    return value


def to_text(value: Any) -> str:
    """A value as the text that Elsa stores as a variable's default."""
    plain = to_json(value)
    if isinstance(plain, str):
        return plain
    return json.dumps(plain, ensure_ascii=False)


def _written_span(span: timedelta) -> str:
    sign, span = ("-", -span) if span < timedelta(0) else ("", span)
    minutes, seconds = divmod(span.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days = f"{span.days}." if span.days else ""
    fraction = f".{span.microseconds:06d}0" if span.microseconds else ""
    return f"{sign}{days}{hours:02d}:{minutes:02d}:{seconds:02d}{fraction}"
