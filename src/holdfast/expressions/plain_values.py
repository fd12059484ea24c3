"""Conversion of values to and from JavaScript, and to Liquid. Values cross as plain values, never in our tagged form.

| Python | JavaScript |
|---|---|
| None, bool, str, float | the same (NaN and infinities inside a collection become null) |
| int, Decimal | a number if it is exact, else text, so that no digit is lost silently |
| datetime, date, time | ISO 8601 text |
| timedelta | `[-][d.]hh:mm:ss[.ffffff]`, the .NET format |
| UUID | text |
| bytes | Uint8Array, inside a collection base64 text |
| enum | its value |
| list, tuple, set | array |
| dict | object; keys become text |
| dataclass, struct, model | object of its fields |

JavaScript returns plain JSON values: whole numbers as int, others as float, Uint8Array as bytes, Date as ISO text.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections.abc import Iterable
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from msgspec import Struct

_SAFE = (1 << 53) - 1
_DEPTH = 100
_LONE_SURROGATE = re.compile(r"(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}")
"""JavaScript writes complete characters unescaped, so an escaped surrogate in its JSON is a lone surrogate."""

Pair = list[Any]


def to_js(value: Any) -> Pair:
    """A value as `[kind, plain]`; the kind distinguishes bytes."""
    if isinstance(value, bytes | bytearray):
        return ["bytes", base64.b64encode(value).decode()]
    return ["json", plain(value, _DEPTH)]


def from_js(text: str) -> Any:
    """Decode a pair written by JavaScript. A lone surrogate cannot be stored and becomes U+FFFD."""
    pair: Pair = json.loads(_LONE_SURROGATE.sub(r"\1\\ufffd", text))
    kind = pair[0]
    if kind == "bytes":
        return base64.b64decode(pair[1])
    if kind == "number":
        return float(pair[1].replace("Infinity", "inf"))
    if kind == "integer":
        return int(pair[1])
    return pair[1] if kind == "json" else None


def plain(value: Any, depth: int = _DEPTH) -> Any:
    if value is None or value is True or value is False or type(value) is str:
        return value
    if depth <= 0:
        raise ValueError(f"a value is nested deeper than {_DEPTH} levels")
    if isinstance(value, Enum):
        return plain(value.value, depth - 1)
    if isinstance(value, int | float | Decimal):
        return _number(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return {_key(key): plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth - 1) for item in value]
    return _other(value, depth)


def _number(value: int | float | Decimal) -> Any:
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, int):
        return int(value) if -_SAFE <= value <= _SAFE else str(value)
    if not value.is_finite():
        return str(value)
    near = float(value) if abs(value.adjusted()) < 300 else None  # range of a double
    return near if near is not None and Decimal(repr(near)) == value else str(value)


def _key(key: Any) -> str:
    return key if isinstance(key, str) else str(plain(key, 1))


def _other(value: Any, depth: int) -> Any:
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    fields = _fields(value)
    if fields is None:
        raise TypeError(f"a value of type {type(value).__name__} cannot be used in JavaScript and Liquid")
    return {name: plain(getattr(value, name), depth - 1) for name in fields}


def _fields(value: Any) -> Iterable[str] | None:
    """Declared public fields of any kind of data class; None for other values."""
    if isinstance(value, Struct):
        declared: Iterable[str] = value.__struct_fields__
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        declared = [entry.name for entry in dataclasses.fields(value)]
    elif isinstance(found := getattr(type(value), "__pydantic_fields__", None), dict):
        declared = found
    else:
        return None
    return [name for name in declared if not name.startswith("_")]


def _duration(value: timedelta) -> str:
    sign, value = ("-", -value) if value < timedelta(0) else ("", value)
    hours, rest = divmod(value.seconds, 3600)
    days = f"{value.days}." if value.days else ""
    fraction = f".{value.microseconds:06}" if value.microseconds else ""
    return f"{sign}{days}{hours:02}:{rest // 60:02}:{rest % 60:02}{fraction}"
