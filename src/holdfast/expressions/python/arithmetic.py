"""Guards for operators: Python's results, with limits.

Each guard takes the budget and the operands. Numbers are checked first; other types (text, collections, times) may be
slower. Types that are not listed have no arithmetic, so operators of host classes never run.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from holdfast.expressions.budget import (
    MAX_INT,
    MAX_INT_BITS,
    Budget,
    OutOfBounds,
    charge,
    check_int,
    check_items,
    check_search,
    check_text,
    key,
    left_of,
    weigh,
)

_NUMBERS = (int, float, Decimal)
_TIMES = (date, datetime, time, timedelta)
_MEASURES = _NUMBERS + _TIMES
_TEXTS = (str, bytes)
_SETS = (set, frozenset)
_SMALL = 1 << 64


def _no_operator(symbol: str, left: Any, right: Any, remedy: str = "") -> TypeError:
    return TypeError(f"{type(left).__name__} {symbol} {type(right).__name__} is not possible{remedy}")


def _number(budget: Budget, value: Any) -> Any:
    """Check a result of arithmetic."""
    kind = value.__class__
    if kind is int:
        return value if -MAX_INT < value < MAX_INT and charge(budget, 1) else check_int(budget, value)
    if kind is complex:
        raise ValueError("the result is a complex number")
    return value


def _operands(left: Any, right: Any) -> bool:
    """Whether both operands are numbers or times, whose operators are cheap."""
    return isinstance(left, _MEASURES) and isinstance(right, _MEASURES)


def _plain(left: Any, right: Any) -> bool:
    """Fast path: numbers whose sum, difference, product and quotient are small."""
    kind, other = left.__class__, right.__class__
    if kind is float:
        return other is float or other is int
    return kind is int and other is int and -_SMALL < left < _SMALL and -_SMALL < right < _SMALL


def add(budget: Budget, left: Any, right: Any) -> Any:
    if left.__class__ is str and right.__class__ is str:
        check_text(budget, len(left) + len(right))
        return left + right
    if _plain(left, right):
        return left + right
    if _operands(left, right):
        return _number(budget, left + right)
    if isinstance(left, str) and isinstance(right, str):
        check_text(budget, len(left) + len(right))
        return str.__add__(left, right)
    if isinstance(left, bytes) and isinstance(right, bytes):
        check_text(budget, len(left) + len(right))
        return bytes.__add__(left, right)
    if isinstance(left, list) and isinstance(right, list):
        check_items(budget, len(left) + len(right))
        return list.__add__(left, right)
    if isinstance(left, tuple) and isinstance(right, tuple):
        check_items(budget, len(left) + len(right))
        return tuple.__add__(left, right)
    remedy = "; write str(…) around the number" if isinstance(left, str) or isinstance(right, str) else ""
    raise _no_operator("+", left, right, remedy)


def subtract(budget: Budget, left: Any, right: Any) -> Any:
    if _plain(left, right):
        return left - right
    if _operands(left, right):
        return _number(budget, left - right)
    if isinstance(left, _SETS) and isinstance(right, _SETS):
        return _of_sets(budget, left, right, set.__sub__)
    raise _no_operator("-", left, right)


def multiply(budget: Budget, left: Any, right: Any) -> Any:
    if _plain(left, right):
        return left * right
    if _operands(left, right):
        _check_product(left, right)
        return _number(budget, left * right)
    if isinstance(left, int) and isinstance(right, (*_TEXTS, list, tuple)):
        left, right = right, left
    if isinstance(right, int) and isinstance(left, _TEXTS):
        check_text(budget, len(left) * max(right, 0))
        return left * right
    if isinstance(right, int) and isinstance(left, list | tuple):
        check_items(budget, len(left) * max(right, 0))
        before = left_of(budget)
        weigh(budget, left)
        charge(budget, (before - left_of(budget)) * max(right - 1, 0))  # As a tree: other code walks the result.
        return left * right
    raise _no_operator("*", left, right)


def _check_product(left: Any, right: Any) -> None:
    """Refuse huge factors before multiplying: values of the workflow may exceed the limits of expressions."""
    if (
        left.__class__ is int
        and right.__class__ is int
        and left.bit_length() + right.bit_length() > 2 * MAX_INT_BITS + 2
    ):
        raise OutOfBounds(f"a number would have more than {MAX_INT_BITS:,} bits")


def divide(budget: Budget, left: Any, right: Any) -> Any:
    if _plain(left, right):
        return left / right
    return _divided(budget, "/", left, right, lambda: left / right)


def floor_divide(budget: Budget, left: Any, right: Any) -> Any:
    if _plain(left, right):
        return left // right
    return _divided(budget, "//", left, right, lambda: left // right)


def modulo(budget: Budget, left: Any, right: Any) -> Any:
    if _plain(left, right):
        return left % right
    if isinstance(left, _TEXTS):
        raise _no_operator("%", left, right, ": use an f-string to build text, f'{value:>8}'")
    return _divided(budget, "%", left, right, lambda: left % right)


def _divided(budget: Budget, symbol: str, left: Any, right: Any, operation: Callable[[], Any]) -> Any:
    if not _operands(left, right):
        raise _no_operator(symbol, left, right)
    if left.__class__ is int and right.__class__ is int:
        charge(budget, left.bit_length() * right.bit_length() >> 16)
    return _number(budget, operation())


def power(budget: Budget, base: Any, exponent: Any) -> Any:
    if not (isinstance(base, _NUMBERS) and isinstance(exponent, _NUMBERS)):
        raise _no_operator("**", base, exponent)
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > MAX_INT_BITS:
        if base not in (0, 1, -1):
            raise OutOfBounds(f"a power would have more than {MAX_INT_BITS:,} bits")
        charge(budget, exponent.bit_length())
    if isinstance(base, Decimal) or isinstance(exponent, Decimal):
        charge(budget, 500)
    return _number(budget, base**exponent)


def shift_left(budget: Budget, left: Any, right: Any) -> Any:
    if not (isinstance(left, int) and isinstance(right, int)):
        raise _no_operator("<<", left, right)
    if right > MAX_INT_BITS or left.bit_length() + right > MAX_INT_BITS:
        raise OutOfBounds(f"a number would have more than {MAX_INT_BITS:,} bits")
    return left << right


def shift_right(budget: Budget, left: Any, right: Any) -> Any:
    if not (isinstance(left, int) and isinstance(right, int)):
        raise _no_operator(">>", left, right)
    return left >> right


def invert(value: Any) -> int:
    """`~value`. Not for bool, where Python deprecates it."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"~{type(value).__name__} is not possible; the opposite of a condition is 'not'")
    return ~value


def bit_or(budget: Budget, left: Any, right: Any) -> Any:
    if isinstance(left, dict) and isinstance(right, dict):
        check_items(budget, len(left) + len(right))
        weigh(budget, right)
        return {**left, **right}
    return _bits(budget, "|", left, right, int.__or__, set.__or__)


def bit_and(budget: Budget, left: Any, right: Any) -> Any:
    return _bits(budget, "&", left, right, int.__and__, set.__and__)


def bit_xor(budget: Budget, left: Any, right: Any) -> Any:
    return _bits(budget, "^", left, right, int.__xor__, set.__xor__)


def _bits(budget: Budget, symbol: str, left: Any, right: Any, of_ints: Any, of_sets: Any) -> Any:
    if isinstance(left, bool) and isinstance(right, bool):
        return bool(of_ints(left, right))
    if isinstance(left, int) and isinstance(right, int):
        return _number(budget, of_ints(left, right))
    if isinstance(left, _SETS) and isinstance(right, _SETS):
        return _of_sets(budget, left, right, of_sets)
    raise _no_operator(symbol, left, right)


def _of_sets(budget: Budget, left: Any, right: Any, operation: Any) -> Any:
    weigh(budget, left)
    weigh(budget, right)
    return operation(set(left), right)


def contains(budget: Budget, wanted: Any, value: Any) -> bool:
    """`wanted in value`."""
    if isinstance(value, str | bytes):
        check_search(budget, value, wanted if isinstance(wanted, str | bytes) else b"")
    elif not isinstance(value, dict | set | frozenset):
        if not isinstance(value, list | tuple | range):
            raise TypeError(f"'in' works on text and collections, not on {type(value).__name__}")
        weigh(budget, value)
    return key(budget, wanted) in value
