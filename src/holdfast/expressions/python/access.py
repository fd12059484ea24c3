"""Guards for access to values: attributes, items, slices, iteration.

An attribute is a *field*: a key of a dict, a declared public field of a dataclass, msgspec struct, pydantic model or
named tuple, or a part of a date or time. Methods are never values (see `methods`), so an expression cannot hold a
callable, a class or a frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from msgspec import Struct

from holdfast.expressions.budget import SHORT_KEY, Budget, charge, check_items, check_text, key

_PARTS: dict[type, frozenset[str]] = {
    datetime: frozenset({"year", "month", "day", "hour", "minute", "second", "microsecond"}),
    date: frozenset({"year", "month", "day"}),
    time: frozenset({"hour", "minute", "second", "microsecond"}),
    timedelta: frozenset({"days", "seconds", "microseconds"}),
    UUID: frozenset({"hex", "version"}),
    complex: frozenset(),
}


def field(value: Any, name: str) -> Any:
    """`value.name`."""
    if isinstance(value, dict):
        if name in value:
            return dict.__getitem__(value, name)
        raise KeyError(name)
    kind = type(value)
    if name in _PARTS.get(kind, ()) or (not name.startswith("_") and name in fields_of(kind)):
        return getattr(value, name)
    raise AttributeError(f"{kind.__name__} has no field '{name}'" + _hint(kind))


def fields_of(kind: type) -> Iterable[str]:
    """Declared fields of any kind of data class; empty for other types."""
    if issubclass(kind, Enum):
        return ("name", "value")
    if issubclass(kind, Struct):
        return kind.__struct_fields__
    declared = kind.__dict__.get("__pydantic_fields__")
    if declared is None:
        declared = getattr(kind, "__dataclass_fields__", None)
    if isinstance(declared, dict):
        return [name for name, entry in declared.items() if getattr(entry, "_field_type", None) is None or _own(entry)]
    if issubclass(kind, tuple):
        named = getattr(kind, "_fields", ())
        return named if isinstance(named, tuple) else ()
    return ()


def _own(entry: Any) -> bool:
    """Whether an entry is a real field. Dataclasses list ClassVar and InitVar entries next to their fields."""
    return str(entry._field_type) == "_FIELD"


def _hint(kind: type) -> str:
    fields = [name for name in fields_of(kind) if not name.startswith("_")] or sorted(_PARTS.get(kind, ()))
    return f"; it has {', '.join(fields[:12])}" if fields else "; methods are called: name()"


def item(budget: Budget, value: Any, index: Any) -> Any:
    """`value[index]`. Reading never adds a key to a defaultdict."""
    kind = value.__class__
    if (kind is dict and index.__class__ is str and len(index) <= SHORT_KEY) or (
        kind is list and index.__class__ is int
    ):
        return value[index]
    if isinstance(value, dict):
        if key(budget, index) in value:
            return dict.__getitem__(value, index)
        raise KeyError(index)
    if isinstance(value, list | tuple | str | bytes | range):
        return value[index]
    raise TypeError(f"{type(value).__name__} does not support []")


def part(budget: Budget, value: Any, start: Any, stop: Any, step: Any) -> Any:
    """`value[start:stop:step]`."""
    if isinstance(value, str | bytes):
        check_text(budget, len(range(*slice(start, stop, step).indices(len(value)))))
    elif isinstance(value, list | tuple | range):
        charge(budget, len(range(*slice(start, stop, step).indices(len(value)))) + 1)
    else:
        raise TypeError(f"{type(value).__name__} does not support slices")
    return value[start:stop:step]


def each(budget: Budget, value: Any, weight: int) -> Any:
    """The iterable of a comprehension. All iterations are charged here; `weight` is the size of the body."""
    if not isinstance(value, list | tuple | dict | set | frozenset | str | bytes | range):
        raise TypeError(f"{type(value).__name__} is not iterable")
    charge(budget, len(value) * weight + 1)
    return value


def each_now(budget: Budget, value: Any) -> Any:
    """The iterable of a `for` statement: a copy, so that the body may change the original.

    Iterations are charged one by one.
    """
    return list(each(budget, value, 1))


def spread(budget: Budget, value: Any) -> Any:
    """`*value` in a list, tuple or set."""
    each(budget, value, 1)
    check_items(budget, len(value))
    return value


def spread_keys(budget: Budget, value: Any) -> Any:
    """`*value` in a set."""
    for entry in spread(budget, value):
        key(budget, entry)
    return value


def merged(budget: Budget, value: Any) -> dict[Any, Any]:
    """`**value` in a dict."""
    if not isinstance(value, dict):
        raise TypeError(f"** takes a dict, not {type(value).__name__}")
    for entry in value:
        key(budget, entry)
    check_items(budget, len(value))
    return value


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal)
