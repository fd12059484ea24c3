"""Functions that expressions may call. All are eager: no iterator, generator or view is ever a value.

There is no clock and no randomness, because a segment may be discarded and run again. There are no regular expressions,
because Python cannot interrupt them (`$javascript` has them, with a time limit).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from types import GeneratorType
from typing import Any
from uuid import UUID

from holdfast.expressions.budget import (
    Budget,
    OutOfBounds,
    charge,
    check_decimal,
    check_int,
    check_items,
    check_text,
    key,
    keys,
    left_of,
    weigh,
)
from holdfast.expressions.python.access import is_number
from holdfast.expressions.python.arithmetic import power
from holdfast.expressions.python.text import formatted, quoted_text, text_of
from holdfast.expressions.python.written_length import check_written

_DIGITS = 5_000
_ROUND_DIGITS = 400
_SHORT = 100
"""Maximum length of a date, time or UUID text."""
_MISSING: Any = object()
_COLLECTIONS = (list, tuple, dict, set, frozenset, str, bytes, range)


def items_of(budget: Budget, value: Any) -> list[Any]:
    if not isinstance(value, _COLLECTIONS):
        raise TypeError(f"{type(value).__name__} is not a collection")
    check_items(budget, len(value))
    return list(value)


def _readable_number(budget: Budget, function: str, value: Any) -> None:
    """Check an argument of int(), float() or Decimal(): a number or short text."""
    if isinstance(value, str):
        if len(value) > _DIGITS:
            raise OutOfBounds(f"a number of {len(value):,} digits is too long")
        charge(budget, len(value) + 1)
    elif not is_number(value):
        raise TypeError(f"{function}() takes a number or a text, not {type(value).__name__}")
    elif isinstance(value, Decimal):
        check_decimal(value)
    elif isinstance(value, int):
        check_int(budget, value)
    charge(budget, 1)


# -- numbers -----------------------------------------------------------------------------------------------------------


def _int(budget: Budget, value: Any = 0, /, base: int = 10) -> int:
    _readable_number(budget, "int", value)
    return check_int(budget, int(value, base) if isinstance(value, str) else int(value))


def _float(budget: Budget, value: Any = 0.0, /) -> float:
    _readable_number(budget, "float", value)
    return float(value)


def _decimal(budget: Budget, value: Any = 0, /) -> Decimal:
    _readable_number(budget, "Decimal", value)
    return check_decimal(Decimal(value))


def _round(budget: Budget, value: Any, digits: int | None = None, /) -> Any:
    if not is_number(value):
        raise TypeError(f"round() takes a number, not {type(value).__name__}")
    if digits is not None and not -_ROUND_DIGITS <= digits <= _ROUND_DIGITS:
        raise OutOfBounds(f"round() takes at most {_ROUND_DIGITS} digits")
    if isinstance(value, Decimal):
        check_decimal(value)
    charge(budget, 5)
    return round(value, digits)


def _abs(budget: Budget, value: Any, /) -> Any:
    if not is_number(value) and not isinstance(value, timedelta):
        raise TypeError(f"abs() takes a number, not {type(value).__name__}")
    return abs(value)


def _sum(budget: Budget, values: Any, /, start: Any = 0) -> Any:
    found = items_of(budget, values)
    charge(budget, 3 * len(found))
    if not all(is_number(value) or isinstance(value, timedelta) for value in (start, *found)):
        raise TypeError("sum() adds numbers only; join text with ''.join(…)")
    total = sum(found, start)
    return check_int(budget, total) if isinstance(total, int) else total


def _of_number(function: Callable[[Any], Any]) -> Callable[..., Any]:
    def of_number(budget: Budget, value: Any, /) -> Any:
        if not is_number(value):
            raise TypeError(f"{function.__name__}() takes a number, not {type(value).__name__}")
        if isinstance(value, Decimal):
            check_decimal(value)
        charge(budget, 5)
        return function(value)

    return of_number


def _log(budget: Budget, value: Any, base: Any = math.e, /) -> float:
    charge(budget, 5)
    return math.log(value, base)


# -- collections -------------------------------------------------------------------------------------------------------


def _len(budget: Budget, value: Any, /) -> int:
    if not isinstance(value, _COLLECTIONS):
        raise TypeError(f"{type(value).__name__} has no length")
    return len(value)


def _extreme(function: Any) -> Callable[..., Any]:
    def extreme(budget: Budget, /, *values: Any, key: Any = None, default: Any = _MISSING) -> Any:
        found = items_of(budget, values[0]) if len(values) == 1 else list(values)
        if not found and default is not _MISSING:
            return default
        marks = weigh(budget, found if key is None else [key(value) for value in found])
        if key is None:
            return function(found)
        return found[function(range(len(found)), key=marks.__getitem__)]

    return extreme


def _sorted(budget: Budget, values: Any, /, *, key: Any = None, reverse: bool = False) -> list[Any]:
    found = items_of(budget, values)
    marks = found if key is None else [key(value) for value in found]
    before = left_of(budget)
    weigh(budget, marks)
    charge(budget, (before - left_of(budget)) * len(marks).bit_length())
    if key is None:
        return sorted(found, reverse=bool(reverse))
    order = sorted(range(len(marks)), key=marks.__getitem__, reverse=bool(reverse))
    return [found[index] for index in order]


def _early(function: Any) -> Callable[..., Any]:
    """any() and all() stop early. They receive the only generators that the rewriter allows, and consume them."""

    def decided(budget: Budget, values: Any, /) -> bool:
        return bool(function(values if isinstance(values, GeneratorType) else items_of(budget, values)))

    return decided


def _range(budget: Budget, /, *bounds: int) -> list[int]:
    span = range(*bounds)
    last = span.stop - (1 if span.step > 0 else -1)
    check_items(budget, max(0, (last - span.start) // span.step + 1))
    return list(span)


def _enumerate(budget: Budget, values: Any, /, start: int = 0) -> list[Any]:
    found = items_of(budget, values)
    charge(budget, 2 * len(found))
    return list(enumerate(found, start))


def _zip(budget: Budget, /, *collections: Any, strict: bool = False) -> list[Any]:
    found = [items_of(budget, values) for values in collections]
    charge(budget, 2 * sum(map(len, found)))
    return list(zip(*found, strict=bool(strict)))


def _list(budget: Budget, values: Any = (), /) -> list[Any]:
    return items_of(budget, values)


def _tuple(budget: Budget, values: Any = (), /) -> tuple[Any, ...]:
    return tuple(items_of(budget, values))


def _set(budget: Budget, values: Any = (), /) -> set[Any]:
    return set(keys(budget, items_of(budget, values)))


def _dict(budget: Budget, values: Any = (), /, **named: Any) -> dict[Any, Any]:
    if isinstance(values, dict):
        check_items(budget, len(values))
        keys(budget, values)
        return {**values, **named}
    made: dict[Any, Any] = {}
    for name, value in items_of(budget, values):
        made[key(budget, name)] = value
    return {**made, **named}


def _reversed(budget: Budget, values: Any, /) -> list[Any]:
    if isinstance(values, set | frozenset):
        raise TypeError("a set has no order to reverse")
    return items_of(budget, values)[::-1]


# -- other -------------------------------------------------------------------------------------------------------------


def _str(budget: Budget, value: Any = "", /) -> str:
    return value if value.__class__ is str else text_of(budget, value)


def _repr(budget: Budget, value: Any, /) -> str:
    return quoted_text(budget, value)


def _format(budget: Budget, value: Any, spec: str = "", /) -> str:
    if not isinstance(spec, str):
        raise TypeError("format() takes its specification as text")
    return formatted(budget, value, -1, spec)


def _bool(budget: Budget, value: Any = False, /) -> bool:
    return bool(value)


def _plain(make: Any) -> Callable[..., Any]:
    """A constructor with constant cost."""

    def made(budget: Budget, /, *parts: Any, **named: Any) -> Any:
        charge(budget, 5)
        return make(*parts, **named)

    return made


def _moment(make: Any) -> Callable[..., Any]:
    """A date or time from its parts. Python also accepts the bytes of a pickle, unchecked."""

    def made(budget: Budget, /, *parts: Any, **named: Any) -> Any:
        if any(isinstance(part, str | bytes) for part in (*parts, *named.values())):
            raise TypeError(f"{make.__name__}() takes numbers; read text with {make.__name__}.fromisoformat(…)")
        charge(budget, 5)
        return make(*parts, **named)

    return made


def _read(make: Any, what: str) -> Callable[..., Any]:
    def read(budget: Budget, text: str, /) -> Any:
        if not isinstance(text, str) or len(text) > _SHORT:
            raise ValueError(f"'{str(text)[:40]}' is not a valid {what}")
        charge(budget, 5)
        return make(text)

    return read


def _dumps(budget: Budget, value: Any, /, *, indent: int | None = None, sort_keys: bool = False) -> str:
    if indent not in (None, 0, 1, 2, 3, 4, 8):
        raise ValueError("indent is one of 0, 1, 2, 3, 4, 8")
    check_written(budget, value, indent or 0)
    weigh(budget, value)
    text = json.dumps(value, indent=indent, sort_keys=bool(sort_keys), ensure_ascii=False, default=_jsonable)
    check_text(budget, len(text))
    return text


def _jsonable(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _loads(budget: Budget, text: str, /) -> Any:
    if not isinstance(text, str | bytes):
        raise TypeError("json.loads() takes text")
    check_text(budget, len(text))
    charge(budget, len(text) >> 1)
    return weigh(budget, json.loads(text))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": _len, "min": _extreme(min), "max": _extreme(max), "sum": _sum, "sorted": _sorted, "round": _round,
    "abs": _abs, "any": _early(any), "all": _early(all), "str": _str, "repr": _repr, "int": _int, "float": _float,
    "bool": _bool, "Decimal": _decimal, "range": _range, "enumerate": _enumerate, "zip": _zip, "list": _list,
    "dict": _dict, "set": _set, "tuple": _tuple, "reversed": _reversed, "format": _format, "chr": _plain(chr),
    "ord": _plain(ord), "pow": power, "UUID": _read(UUID, "UUID"), "datetime": _moment(datetime), "date": _moment(date),
    "time": _moment(time), "timedelta": _plain(timedelta),
}  # fmt: skip

MEMBERS: dict[str, Callable[..., Any]] = {
    "json.dumps": _dumps, "json.loads": _loads, "math.floor": _of_number(math.floor),
    "math.ceil": _of_number(math.ceil), "math.trunc": _of_number(math.trunc), "math.sqrt": _of_number(math.sqrt),
    "math.exp": _of_number(math.exp), "math.log10": _of_number(math.log10), "math.log": _log,
    "math.isnan": _of_number(math.isnan), "math.isinf": _of_number(math.isinf),
    "datetime.fromisoformat": _read(datetime.fromisoformat, "datetime"),
    "date.fromisoformat": _read(date.fromisoformat, "date"), "time.fromisoformat": _read(time.fromisoformat, "time"),
}  # fmt: skip

CONSTANTS: dict[str, Any] = {
    "math.pi": math.pi, "math.e": math.e, "math.inf": math.inf, "math.nan": math.nan, "timezone.utc": UTC,
}  # fmt: skip

TYPES: dict[str, type] = {
    "str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict, "tuple": tuple, "set": set,
    "bytes": bytes, "Decimal": Decimal, "datetime": datetime, "date": date, "time": time, "timedelta": timedelta,
    "UUID": UUID,
}  # fmt: skip

TAKE_GENERATOR = frozenset({"any", "all"})
"""Functions that stop early. All other functions get a list instead of a generator."""
TAKE_KEY = frozenset({"min", "max", "sorted"})
