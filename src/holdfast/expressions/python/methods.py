"""Methods that expressions may call. None of them changes a value, and each has limits; other methods do not exist.

The rewriter turns `value.name(args)` into `call(budget, value, "name", args)`. The value's own attribute is never
looked up, so a subclass cannot inject a method.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any

from holdfast.expressions.budget import (
    Budget,
    charge,
    check_decimal,
    check_items,
    check_search,
    check_text,
    key,
    keys,
    weigh,
)
from holdfast.expressions.python.text import time_text

Method = Callable[..., Any]
_NONE: dict[str, Method] = {}


def call(budget: Budget, value: Any, name: str, /, *args: Any, **named: Any) -> Any:
    for kind in type(value).__mro__:
        method = METHODS.get(kind, _NONE).get(name)
        if method is not None:
            return method(budget, value, *args, **named)
    known = sorted({known for kind in type(value).__mro__ for known in METHODS.get(kind, _NONE)})
    hint = f"; it has {', '.join(known)}" if known else ""
    raise AttributeError(f"{type(value).__name__} has no method '{name}' here{hint}")


def _reading(kind: Any, *names: str) -> dict[str, Method]:
    """Methods that read the value once and return something of similar length."""

    def wrap(method: Any) -> Method:
        def read(budget: Budget, value: Any, /, *args: Any) -> Any:
            for arg in args:
                weigh(budget, arg)
            if isinstance(value, str | bytes):
                check_text(budget, len(value))
            else:
                weigh(budget, value)
            return method(value, *args)

        return read

    return {name: wrap(getattr(kind, name)) for name in names}


def _searching(kind: Any, *names: str) -> dict[str, Method]:
    """Methods that look for their first argument in the value."""

    def wrap(method: Any) -> Method:
        def search(budget: Budget, value: Any, /, *args: Any) -> Any:
            if args and isinstance(args[0], str | bytes):
                check_search(budget, value, args[0])
            return method(value, *args)

        return search

    return {name: wrap(getattr(kind, name)) for name in names}


def _small(kind: Any, *names: str) -> dict[str, Method]:
    """Methods of small values, without arguments."""

    def wrap(method: Any) -> Method:
        def small(budget: Budget, value: Any, /) -> Any:
            charge(budget, 1)
            return method(value)

        return small

    return {name: wrap(getattr(kind, name)) for name in names}


# -- text --------------------------------------------------------------------------------------------------------------


def _replace(budget: Budget, value: str, old: str, new: str, count: int = -1, /) -> str:
    check_search(budget, value, old)
    times = str.count(value, old)
    times = times if count < 0 else min(times, count)
    check_text(budget, max(len(value) + times * (len(new) - len(old)), 0))
    return str.replace(value, old, new, count)


def _join(budget: Budget, value: str, parts: Any, /) -> str:
    if not isinstance(parts, list | tuple | set | frozenset | dict):
        raise TypeError(f"join takes a collection of texts, not {type(parts).__name__}")
    charge(budget, len(parts) + 1)
    check_text(budget, len(value) * len(parts) + sum(len(text) for text in parts if isinstance(text, str)))
    return str.join(value, parts)


def _padded(method: Any) -> Method:
    def pad(budget: Budget, value: str, width: int, /, *fill: str) -> Any:
        check_text(budget, max(width, len(value)))
        return method(value, width, *fill)

    return pad


def _split(method: Any) -> Method:
    def split(budget: Budget, value: str, /, sep: str | None = None, maxsplit: int = -1) -> Any:
        check_search(budget, value, sep or "")
        check_text(budget, len(value))
        charge(budget, len(value) >> 1)
        return method(value, sep, maxsplit)

    return split


def _lines(budget: Budget, value: str, keepends: bool = False, /) -> list[str]:
    check_text(budget, len(value))
    charge(budget, len(value))
    return str.splitlines(value, bool(keepends))


def _encode(budget: Budget, value: str, encoding: str = "utf-8", /) -> bytes:
    _check_encoding(encoding)
    check_text(budget, 4 * len(value))
    return str.encode(value, encoding)


def _decode(budget: Budget, value: bytes, encoding: str = "utf-8", /) -> str:
    _check_encoding(encoding)
    check_text(budget, len(value))
    return bytes.decode(value, encoding)


def _check_encoding(encoding: str) -> None:
    """Codecs are found by importing a module of that name, so only known names are allowed."""
    if encoding not in ("utf-8", "utf8", "ascii", "latin-1"):
        raise ValueError("the encoding must be one of utf-8, ascii, latin-1")


_TEXT: dict[str, Method] = {
    **_reading(
        str, "upper", "lower", "title", "capitalize", "swapcase", "casefold", "startswith", "endswith",
        "removeprefix", "removesuffix", "isdigit", "isalpha", "isalnum", "isnumeric", "isdecimal", "isspace", "isupper",
        "islower", "istitle", "isidentifier", "isascii",
    ),
    **_searching(
        str, "strip", "lstrip", "rstrip", "find", "rfind", "index", "rindex", "count", "partition", "rpartition",
    ),
    "replace": _replace,
    "join": _join,
    "split": _split(str.split),
    "rsplit": _split(str.rsplit),
    "splitlines": _lines,
    "encode": _encode,
    **{name: _padded(getattr(str, name)) for name in ("zfill", "ljust", "rjust", "center")},
}  # fmt: skip

# -- collections -------------------------------------------------------------------------------------------------------


def _get(budget: Budget, value: dict[Any, Any], name: Any, default: Any = None, /) -> Any:
    return dict.get(value, key(budget, name), default)


def _listed(method: Any) -> Method:
    def listed(budget: Budget, value: dict[Any, Any], /) -> list[Any]:
        charge(budget, 3 * len(value) + 1)
        return list(method(value))

    return listed


def _copied(kind: Any) -> Method:
    def copied(budget: Budget, value: Any, /) -> Any:
        check_items(budget, len(value))
        return kind(value)

    return copied


def _of_sets(name: str) -> Method:
    method = getattr(set, name)

    def operation(budget: Budget, value: Any, other: Any, /) -> Any:
        if not isinstance(other, list | tuple | set | frozenset | dict):
            raise TypeError(f"{name} takes a collection, not {type(other).__name__}")
        weigh(budget, value)
        keys(budget, weigh(budget, other))
        return method(set(value), other)

    return operation


_SET: dict[str, Method] = {
    "copy": _copied(set),
    **{
        name: _of_sets(name)
        for name in (
            "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint",
        )
    },
}  # fmt: skip

# -- numbers and times -------------------------------------------------------------------------------------------------


def _quantize(budget: Budget, value: Decimal, exponent: Decimal, /, rounding: str | None = None) -> Decimal:
    charge(budget, 10)
    return check_decimal(value).quantize(check_decimal(exponent), rounding=rounding)


def _replaced(kind: Any) -> Method:
    def replaced(budget: Budget, value: Any, /, **parts: int) -> Any:
        if not all(isinstance(part, int) for part in parts.values()):
            raise TypeError("replace takes whole numbers, such as replace(hour=9)")
        charge(budget, 5)
        return kind.replace(value, **parts)

    return replaced


def _astimezone(budget: Budget, value: datetime, zone: tzinfo, /) -> datetime:
    """Requires an explicit zone: the local zone may differ between nodes."""
    if not isinstance(zone, tzinfo) or value.tzinfo is None:
        raise TypeError("astimezone needs an aware time and a target zone, such as timezone.utc")
    charge(budget, 5)
    return datetime.astimezone(value, zone)


def _timestamp(budget: Budget, value: datetime, /) -> float:
    if value.tzinfo is None:
        raise TypeError("timestamp needs an aware time")
    charge(budget, 1)
    return datetime.timestamp(value)


METHODS: dict[type, dict[str, Method]] = {
    str: _TEXT,
    bytes: {
        "decode": _decode,
        **_reading(bytes, "hex", "startswith", "endswith"),
        **_searching(bytes, "find", "count"),
    },
    dict: {
        "get": _get,
        "keys": _listed(dict.keys),
        "values": _listed(dict.values),
        "items": _listed(dict.items),
        "copy": _copied(dict),
    },
    list: {"copy": _copied(list), **_reading(list, "index", "count")},
    tuple: _reading(tuple, "index", "count"),
    set: _SET,
    frozenset: _SET,
    int: _small(int, "bit_length"),
    float: _small(float, "is_integer"),
    Decimal: {"quantize": _quantize, **_small(Decimal, "is_nan", "is_finite", "is_infinite", "is_zero", "copy_abs")},
    datetime: {
        "strftime": time_text,
        "astimezone": _astimezone,
        "timestamp": _timestamp,
        "replace": _replaced(datetime),
        **_small(datetime, "isoformat", "date", "time", "weekday", "isoweekday", "utcoffset"),
    },
    date: {
        "strftime": time_text,
        "replace": _replaced(date),
        **_small(date, "isoformat", "weekday", "isoweekday"),
    },
    time: {"strftime": time_text, "replace": _replaced(time), **_small(time, "isoformat")},
    timedelta: _small(timedelta, "total_seconds"),
}
NAMES = frozenset(name for table in METHODS.values() for name in table)
"""All methods of all types. Other names are refused at compile time."""
