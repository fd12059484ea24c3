"""Guards for conversion to text: f-strings, `str`, `format`, `strftime`.

Python's format language produces as many characters as a specification says (`{x:>1000000000}`), reaches into objects
(`{0.__class__}`, which is why `str.format` does not exist here), and calls `__format__` of any class.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from holdfast.expressions.budget import (
    MAX_INT_BITS,
    Budget,
    OutOfBounds,
    charge,
    check_decimal,
    check_text,
    weigh,
)
from holdfast.expressions.python.access import fields_of
from holdfast.expressions.python.written_length import check_written

WIDTH = 1_000
PRECISION = 100
_SMALL = 1 << 64
_SPEC = re.compile(r"(?:.?[<>=^])?[-+ ]?z?#?0?(\d{0,9})[,_]?(?:\.(\d{1,9}))?[bcdeEfFgGnosxX%]?")
_TIME_SPEC = re.compile(r"(?:[^%]|%[aAbBcdeDfFGHIjmMpRSTuUVwWxXyYzZ%])*")
_TO_REPR, _TO_ASCII, _TO_STR = ord("r"), ord("a"), ord("s")


def text_of(budget: Budget, value: Any) -> str:
    """`str(value)`."""
    if value.__class__ is int and -_SMALL < value < _SMALL:
        charge(budget, 3)
        return str(value)
    _check_readable(budget, value)
    text = str(value)
    check_text(budget, len(text))
    return text


def quoted_text(budget: Budget, value: Any) -> str:
    """`repr(value)`."""
    _check_readable(budget, value)
    text = repr(value)
    check_text(budget, len(text))
    return text


def _check_readable(budget: Budget, value: Any) -> None:
    if isinstance(value, str | bytes | list | tuple | dict | set | frozenset):
        check_written(budget, value)
        weigh(budget, value)
    elif isinstance(value, int):
        charge(budget, value.bit_length() >> 3)
    elif not (value is None or isinstance(value, float | Decimal | date | time | timedelta | UUID | Enum)):
        if not fields_of(type(value)):
            raise TypeError(f"{type(value).__name__} cannot be written as text")
        check_written(budget, value)
        charge(budget, 100)


def formatted(budget: Budget, value: Any, conversion: int, spec: str) -> str:
    """`{value!r:spec}` of an f-string. As in the syntax tree, conversion is the code of the letter or -1."""
    if not spec and value.__class__ is int and -_SMALL < value < _SMALL:
        return str(value)
    if conversion == _TO_REPR:
        value = quoted_text(budget, value)
    elif conversion == _TO_ASCII:
        quoted_text(budget, value)
        value = ascii(value)
        check_text(budget, len(value))
    elif conversion == _TO_STR:
        value = text_of(budget, value)
    if not spec:
        return value if value.__class__ is str else text_of(budget, value)
    if isinstance(value, date | time):
        return time_text(budget, value, spec)
    if not isinstance(value, str | int | float | Decimal):
        raise TypeError(f"{type(value).__name__} takes no format specification; leave out ':{spec[:20]}'")
    return _with_spec(budget, value, spec)


def _with_spec(budget: Budget, value: Any, spec: str) -> str:
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise ValueError(f"'{spec[:40]}' is not a valid format specification")
    if int(match[1] or 0) > WIDTH or int(match[2] or 0) > PRECISION:
        raise OutOfBounds(f"a format specification asks for more than {WIDTH} characters or {PRECISION} decimals")
    if isinstance(value, Decimal):
        check_decimal(value)
    elif isinstance(value, int) and value.bit_length() > MAX_INT_BITS:
        raise OutOfBounds("a number is too long to write")
    charge(budget, 10)
    text = format(value, spec)
    check_text(budget, len(text))
    return text


def time_text(budget: Budget, value: Any, spec: str, /) -> str:
    """`value.strftime(spec)`. Platform extensions can pad to any width, so only plain letters are allowed."""
    if not isinstance(spec, str) or len(spec) > WIDTH or _TIME_SPEC.fullmatch(spec) is None:
        raise ValueError(f"'{str(spec)[:40]}' is not a time format; use letters such as %Y-%m-%d %H:%M")
    charge(budget, len(spec) + 10)
    if isinstance(value, datetime):
        return datetime.strftime(value, spec)
    return date.strftime(value, spec) if isinstance(value, date) else time.strftime(value, spec)


def joined(budget: Budget, *parts: str) -> str:
    """The parts of an f-string."""
    check_text(budget, sum(map(len, parts)))
    return "".join(parts)
