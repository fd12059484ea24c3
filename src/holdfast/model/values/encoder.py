"""Encoder of typed values as JSON. The result never shares containers with the value."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, Flag
from math import isfinite
from typing import Any
from uuid import UUID

import msgspec

from holdfast.errors import ValueRefused
from holdfast.model.durations import format_duration
from holdfast.model.values.check import MAX_DEPTH, refuse
from holdfast.model.values.exceptions import KeptException, arguments_of, exception_names
from holdfast.model.values.forms import form_of
from holdfast.model.values.omitted import Omitted
from holdfast.model.values.registry import TypeRegistry, default_name
from holdfast.model.values.remedies import NAIVE, TOO_DEEP

__all__ = ["TAG", "encode"]

TAG = "$t"

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_FEW = 16
"""Longer lists are first checked as a whole for plain items."""
_ARGUMENT_TEXT_MAX = 200
"""Maximum length of the text that replaces an exception's argument that cannot be encoded."""

Types = TypeRegistry | None


def encode(value: Any, types: TypeRegistry | None = None) -> Any:
    """Plain JSON: str, int, float, bool, None, lists, dicts with text keys. Refuses the same values as `check`."""
    return _dict(value, types, 1) if value.__class__ is dict else _encode(value, types, 0)


def _encode(value: Any, types: Types, depth: int) -> Any:
    cls = value.__class__
    if cls is str:
        return value if value.isascii() else _text(value)
    if cls is int:
        return value if _LOWEST <= value <= _HIGHEST else {TAG: "int", "v": hex(value)}
    if cls is bool or value is None:
        return value
    if cls is float:
        return value if isfinite(value) else {TAG: "float", "v": repr(value)}
    if depth >= MAX_DEPTH:
        refuse(cls, "value", TOO_DEEP)
    write = _WRITERS.get(cls)
    return write(value, types, depth + 1) if write is not None else _instance(value, cls, types, depth + 1)


def _text(value: str) -> Any:
    """Text with lone surrogates is not valid Unicode and cannot be written as JSON."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return {TAG: "text", "v": b64encode(value.encode("utf-16-le", "surrogatepass")).decode()}
    return value


# -- containers --------------------------------------------------------------------------------------------------------


def _dict(value: dict[Any, Any], types: Types, depth: int) -> Any:
    out = {}
    for key, item in value.items():
        if key.__class__ is not str or key == TAG or not (key.isascii() or _text(key) is key):
            return _pairs(value, types, depth)
        cls = item.__class__
        if cls is bool or item is None or (cls is str and item.isascii()) or (cls is int and -1 < item < _HIGHEST):
            out[key] = item
        elif cls is dict and depth < MAX_DEPTH:
            out[key] = _dict(item, types, depth + 1)
        else:
            out[key] = _encode(item, types, depth)
    return out


def _pairs(value: dict[Any, Any], types: Types, depth: int) -> Any:
    pairs = [[_encode(key, types, depth), _encode(item, types, depth)] for key, item in value.items()]
    return {TAG: "dict", "v": pairs}


def _items(value: Any, types: Types, depth: int) -> list[Any]:
    if len(value) > _FEW:
        kinds = set(map(type, value))
        if len(kinds) == 1 and _is_plain(value, kinds.pop()):
            return list(value)
    return [_encode(item, types, depth) for item in value]


def _is_plain(value: Any, kind: type) -> bool:
    if kind is str:
        return all(map(str.isascii, value))
    if kind is int:
        return bool(min(value) >= _LOWEST and max(value) <= _HIGHEST)
    return kind is bool or (kind is float and all(map(isfinite, value)))


def _tuple(value: tuple[Any, ...], types: Types, depth: int) -> Any:
    return {TAG: "tuple", "v": _items(value, types, depth)}


def _set(value: Any, types: Types, depth: int) -> Any:
    # Sorted for a deterministic result.
    members = sorted(_items(value, types, depth), key=msgspec.json.Encoder(order="sorted").encode)
    return {TAG: value.__class__.__name__, "v": members}


# -- scalars -----------------------------------------------------------------------------------------------------------


def _datetime(value: datetime, types: Types, depth: int) -> Any:
    if value.utcoffset() is None:
        raise ValueRefused("value", "datetime without a time zone", remedy=NAIVE)
    return {TAG: "datetime", "v": value.isoformat(), **_zone(value)}


def _time(value: time, types: Types, depth: int) -> Any:
    return {TAG: "time", "v": value.isoformat(), **_zone(value)}


def _zone(value: datetime | time) -> dict[str, Any]:
    zone = getattr(value.tzinfo, "key", None)
    out: dict[str, Any] = {"zone": zone} if isinstance(zone, str) else {}
    if value.fold:
        out["fold"] = 1
    return out


# -- classes -----------------------------------------------------------------------------------------------------------


def _instance(value: Any, cls: type, types: Types, depth: int) -> Any:
    if isinstance(value, Enum):
        return {TAG: "enum", "of": _name(cls, types), "v": value.value if isinstance(value, Flag) else value.name}
    if isinstance(value, BaseException):
        return _exception(value, types, depth)
    form = form_of(cls)
    if form is None:
        refuse(cls, "value")
    parts = {name: _encode(part, types, depth) for name, part in form.apart(value).items()}
    return {TAG: "object", "of": _name(cls, types), "v": parts}


def _name(cls: type, types: Types) -> str:
    return types.name_of(cls) if types is not None else default_name(cls)


def _exception(error: BaseException, types: Types, depth: int) -> Any:
    if isinstance(error, KeptException):
        message, args, attributes = error.message, error.kept_args, error.attributes
    else:
        message, args, attributes = _message(error), arguments_of(error), vars(error)
    name, *bases = exception_names(error, types)
    return {
        TAG: "error",
        "of": name,
        "bases": bases,
        "message": _text(message),
        "args": [_argument(item, types, depth) for item in args],
        "state": [[_text(key), _argument(item, types, depth)] for key, item in attributes.items()],
    }


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 # user code
        # A broken __str__: the name of the class is still useful.
        return type(error).__qualname__


def _argument(item: Any, types: Types, depth: int) -> Any:
    try:
        return _encode(item, types, depth)
    except ValueRefused:
        return _text(_described(item)[:_ARGUMENT_TEXT_MAX])


def _described(item: object) -> str:
    try:
        return repr(item)
    except Exception:  # noqa: BLE001 # user code
        return f"<{type(item).__qualname__}>"


_WRITERS: dict[type, Callable[[Any, Types, int], Any]] = {
    dict: _dict,
    list: _items,
    tuple: _tuple,
    set: _set,
    frozenset: _set,
    datetime: _datetime,
    time: _time,
    date: lambda value, _types, _depth: {TAG: "date", "v": value.isoformat()},
    timedelta: lambda value, _types, _depth: {TAG: "duration", "v": format_duration(value)},
    Decimal: lambda value, _types, _depth: {TAG: "decimal", "v": str(value)},
    UUID: lambda value, _types, _depth: {TAG: "uuid", "v": str(value)},
    Omitted: lambda value, _types, _depth: {TAG: "omitted", "type": value.type, "size": value.size, "hash": value.hash},
    bytes: lambda value, _types, _depth: {TAG: "bytes", "v": b64encode(value).decode()},
}
