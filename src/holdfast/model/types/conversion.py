"""Conversion of values to declared types.

There are two modes. `convert` is lenient, for variables and activity inputs: it parses text independently of the locale, reads
JSON text as objects, and turns blank text into None. `fit` is strict, for external inputs: it converts only without loss or
guessing. `"5"` is not an integer, but ISO text is a datetime if one is declared.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any
from uuid import UUID

import msgspec

from holdfast.model.durations import parse_duration
from holdfast.model.types.names import BUILT_IN, TypeName, parse_type
from holdfast.model.types.text import to_text
from holdfast.model.values import TypeRegistry
from holdfast.model.values.forms import form_of, is_pydantic

__all__ = ["conforms", "convert", "fit"]

CLASSES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "decimal": (Decimal,),
    "boolean": (bool,),
    "bytes": (bytes,),
    "datetime": (datetime,),
    "date": (date,),
    "time": (time,),
    "duration": (timedelta,),
    "uuid": (UUID,),
}
"""Classes of values by type name, for types that are neither containers nor registered classes."""


def conforms(value: Any, type_name: str, types: TypeRegistry | None = None) -> bool:
    """Whether the value already has that type. An unregistered class is matched by its name."""
    return _conforms(value, parse_type(type_name), types)


def _conforms(value: Any, name: TypeName, types: TypeRegistry | None) -> bool:
    if value is None or name.base == "any":
        return name.nullable or name.base == "any"
    cls = value.__class__
    if name.base == "list":
        item = name.item
        return cls in (list, tuple) and (item is None or all(_conforms(each, item, types) for each in value))
    if name.base == "object":
        return cls is dict or form_of(cls) is not None
    if name.base in CLASSES:
        return cls in CLASSES[name.base] and (cls is not datetime or value.utcoffset() is not None)
    return _is_instance(value, name.base, types)


def _is_instance(value: Any, name: str, types: TypeRegistry | None) -> bool:
    found = types.find(name) if types is not None else None
    if found is not None:
        return isinstance(value, found)
    return (types or TypeRegistry()).name_of(value.__class__) == name


def convert(value: Any, type_name: str, types: TypeRegistry | None = None) -> Any:
    """Convert the value leniently. Raises ValueError with the remedy if there is no sensible conversion."""
    return _convert(value, parse_type(type_name), types, lenient=True)


def fit(value: Any, type_name: str, types: TypeRegistry | None = None) -> Any:
    """Convert the value without loss or guessing, else ValueError. None is valid for `T?` and `any` only."""
    name = parse_type(type_name)
    if value is None and not name.nullable and name.base != "any":
        raise ValueError(f"None is not a valid {type_name}. Give a value, or declare the type as '{type_name}?'.")
    return _convert(value, name, types, lenient=False)


def _convert(value: Any, name: TypeName, types: TypeRegistry | None, *, lenient: bool) -> Any:
    if value is None or name.base == "any":
        return value
    if name.base == "list":
        return _list(value, name, types, lenient=lenient)
    if _conforms(value, name, types):
        return value
    if lenient and isinstance(value, str) and not value.strip():
        return None
    if name.base not in BUILT_IN:
        return _class(value, name.base, types, lenient=lenient)
    try:
        return _CONVERTERS[name.base](value, lenient)
    except (ValueError, TypeError, OverflowError, InvalidOperation) as error:
        reason = f" {error}" if isinstance(error, _Reason) else ""
        raise ValueError(
            f"{_excerpt(value)} is not a valid {name.base}.{reason or _HINTS.get(name.base, '')}"
        ) from None


class _Reason(ValueError):
    """An error whose message is shown to the user."""


_HINTS = {
    "datetime": " Write it as ISO 8601 with an offset: '2031-05-01T12:00:00Z'.",
    "date": " Write it as '2031-05-01'.",
    "time": " Write it as '12:30:00'.",
    "duration": " Write it as ISO 8601 ('PT30S', 'P1DT2H') or as 'hh:mm:ss' or 'd.hh:mm:ss'.",
    "uuid": " Write it as 32 hexadecimal digits, with or without hyphens.",
    "bytes": " Give bytes, or base64 text.",
    "boolean": " Give true or false.",
    "integer": " Give a whole number.",
    "number": " Give a number.",
    "decimal": " Give a number, or text of one.",
    "string": " Give text.",
    "object": " Give an object, or JSON text of one.",
}


_TRUTHS = {"true": True, "false": False, "1": True, "0": False}
_EXCERPT_MAX = 60
"""Characters of a value in a message."""
_MOST_DIGITS = 400
"""Limit for numbers from text or floats: `1e999999999` is short, but its int would fill the memory."""


def _excerpt(value: Any) -> str:
    text = repr(value) if isinstance(value, (str, int, float, Decimal, date, time, timedelta, UUID)) else ""
    kind = value.__class__.__name__
    if not text:
        return f"A value of type {kind}"
    return f"The {kind} {text}" if len(text) <= _EXCERPT_MAX else f"The {kind} {text[:_EXCERPT_MAX]}…"


# -- scalars -----------------------------------------------------------------------------------------------------------


def _string(value: Any, lenient: bool) -> str:
    if not lenient:
        raise TypeError
    return to_text(value)


def _integer(value: Any, lenient: bool) -> int:
    if lenient and isinstance(value, int):
        return int(value)
    number = Decimal(value) if isinstance(value, float) or (lenient and isinstance(value, str)) else value
    if (
        isinstance(number, Decimal)
        and number.is_finite()
        and number.adjusted() < _MOST_DIGITS
        and number == int(number)
    ):
        return int(number)
    raise TypeError


def _number(value: Any, lenient: bool) -> int | float:
    if isinstance(value, Decimal) and lenient:
        return float(value)
    if isinstance(value, int) and lenient:
        return int(value)
    if isinstance(value, str) and lenient:
        text = value.strip()
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    raise TypeError


def _decimal(value: Any, lenient: bool) -> Decimal:
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, (int, str)) and not isinstance(value, bool):
        return Decimal(value)
    raise TypeError


def _boolean(value: Any, lenient: bool) -> bool:
    if lenient and isinstance(value, str) and value.strip().lower() in _TRUTHS:
        return _TRUTHS[value.strip().lower()]
    if lenient and isinstance(value, (int, float, Decimal)):
        return bool(value)
    raise TypeError


def _bytes(value: Any, lenient: bool) -> bytes:
    if isinstance(value, str):
        return b64decode(value, validate=True)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    raise TypeError


def _datetime(value: Any, lenient: bool) -> datetime:
    if isinstance(value, str):
        value = datetime.fromisoformat(value.strip())
    elif lenient and value.__class__ is date:
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, datetime):
        raise TypeError
    if value.utcoffset() is None:
        if not lenient:
            raise _Reason("It has no time zone: add 'Z' or an offset such as '+02:00'.")
        return value.replace(tzinfo=UTC)
    return value


def _date(value: Any, lenient: bool) -> date:
    if isinstance(value, str):
        text = value.strip()
        return datetime.fromisoformat(text).date() if lenient else date.fromisoformat(text)
    if lenient and isinstance(value, datetime):
        return value.date()
    raise TypeError


def _time(value: Any, lenient: bool) -> time:
    if isinstance(value, str):
        return time.fromisoformat(value.strip())
    if lenient and isinstance(value, datetime):
        return value.timetz()
    raise TypeError


def _duration(value: Any, lenient: bool) -> timedelta:
    if isinstance(value, str):
        return parse_duration(value)
    raise TypeError


def _uuid(value: Any, lenient: bool) -> UUID:
    if isinstance(value, str):
        return UUID(value.strip())
    raise TypeError


def _object(value: Any, lenient: bool) -> Any:
    if lenient and isinstance(value, str):
        found = _json(value)
        if isinstance(found, dict):
            return found
    raise TypeError


_CONVERTERS: dict[str, Callable[[Any, bool], Any]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "decimal": _decimal,
    "boolean": _boolean,
    "bytes": _bytes,
    "datetime": _datetime,
    "date": _date,
    "time": _time,
    "duration": _duration,
    "uuid": _uuid,
    "object": _object,
}


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text.strip().encode())
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        raise _Reason("It is not valid JSON.") from None


# -- lists and classes -------------------------------------------------------------------------------------------------


def _list(value: Any, name: TypeName, types: TypeRegistry | None, *, lenient: bool) -> Any:
    if lenient and isinstance(value, str):
        value = _list_of_text(value)
    if value.__class__ in (set, frozenset) and lenient:
        value = list(value)
    if value.__class__ not in (list, tuple):
        raise ValueError(f"{_excerpt(value)} is not a list. Give a list, or JSON text of one.")
    item = name.item
    if item is None or all(_conforms(each, item, types) for each in value):
        return value
    return [_item(each, index, item, types, lenient=lenient) for index, each in enumerate(value)]


def _item(each: Any, index: int, item: TypeName, types: TypeRegistry | None, *, lenient: bool) -> Any:
    if each is None and not item.nullable and not lenient and item.base != "any":
        raise ValueError(f"Item {index} is None, which is not a valid {item}. Give a value or leave it out.")
    try:
        return _convert(each, item, types, lenient=lenient)
    except ValueError as error:
        raise ValueError(f"Item {index}: {error}") from None


def _list_of_text(text: str) -> list[Any]:
    if not text.strip():
        return []
    if text.strip().startswith("["):
        found = _json(text)
        if isinstance(found, list):
            return found
    return [text]


def _class(value: Any, name: str, types: TypeRegistry | None, *, lenient: bool) -> Any:
    cls = types.find(name) if types is not None else None
    if cls is None:
        raise ValueError(f"The type '{name}' is not registered. Register its class: Holdfast(types=[…]) or a plugin.")
    if issubclass(cls, Enum):
        return _member(value, cls)
    if lenient and isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        value = _json(value)
    if isinstance(value, dict):
        try:
            return build(value, cls, strict=not lenient)
        except Exception as error:
            # Validation errors of msgspec and pydantic, and any error of a __post_init__.
            raise ValueError(f"The object is not a valid {name}: {error}") from error
    raise ValueError(f"{_excerpt(value)} is not a {name}. Give an object with the fields of {cls.__qualname__}.")


def _member(value: Any, cls: type[Enum]) -> Enum:
    if isinstance(value, str) and value in cls.__members__:
        return cls[value]
    try:
        return cls(value)
    except ValueError:
        raise ValueError(f"{_excerpt(value)} is not one of {', '.join(cls.__members__)}.") from None


def build(fields: dict[str, Any], cls: type, *, strict: bool) -> Any:
    """An object of a class from plain fields, validated by msgspec, or by pydantic for its models."""
    if is_pydantic(cls):
        return cls.model_validate(fields)  # type: ignore[attr-defined] # pydantic is not imported here
    return msgspec.convert(fields, cls, strict=strict, dec_hook=_nested)


def _nested(cls: type, value: Any) -> Any:
    if is_pydantic(cls) and "pydantic" in sys.modules:
        return cls.model_validate(value)  # type: ignore[attr-defined] # pydantic is not imported here
    if isinstance(value, cls):
        return value
    raise NotImplementedError
