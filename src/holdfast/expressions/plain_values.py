"""How values cross into JavaScript and back, and into Liquid: as plain values, never as our tagged ones.

| Python | JavaScript |
|---|---|
| None, bool, str, float | the same (NaN and infinities inside a collection become null) |
| int, Decimal | a number if a number holds it exactly, else a text, so that no digit is lost in silence |
| datetime, date, time | ISO 8601 text |
| timedelta | `[-][d.]hh:mm:ss[.ffffff]`, as .NET writes it |
| UUID | text |
| bytes | Uint8Array, inside a collection base64 text |
| enum | its value |
| list, tuple, set | array |
| dict | object; keys become texts |
| dataclass, struct, model | object of its fields |

Back come plain JSON values: whole numbers as int, others as float, Uint8Array as bytes, Date as ISO text.
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
_HALF_CHARACTER = re.compile(r"(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}")
"""JavaScript writes whole characters as they are, so an escaped surrogate in its JSON stands alone."""

Pair = list[Any]


def to_js(value: Any) -> Pair:
    """A value as `[kind, plain]`, where the kind tells bytes from the rest."""
    if isinstance(value, bytes | bytearray):
        return ["bytes", base64.b64encode(value).decode()]
    return ["json", plain(value, _DEPTH)]


def from_js(text: str) -> Any:
    """A pair as JavaScript wrote it. Half a character (a surrogate alone) cannot be kept and becomes U+FFFD."""
    pair: Pair = json.loads(_HALF_CHARACTER.sub(r"\1\\ufffd", text))
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
        raise ValueError(f"a value nests deeper than {_DEPTH} levels")
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
    near = float(value) if abs(value.adjusted()) < 300 else None  # what a double can hold
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
    """The declared fields of a data class of whatever make, without the private ones; None for anything else."""
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
