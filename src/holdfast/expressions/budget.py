"""What an evaluation may cost, and how it is counted.

Time and memory are counted, not measured: an expression that passes once passes always, on every machine. A unit of
fuel is about one node of the syntax tree executed, one item of a collection touched, or eight characters made. A
budget is a plain list `[fuel, weak keys]`, because it is on the path of every guard.

Three costs that Python hides are counted here:

- A value may hold another one twice (`x = [x, x]`, thirty times). It is small in memory and endless for `==`, `str`,
  `hash` or the one who saves it. `weigh` walks such a value as a tree, so that it runs out of fuel first.
- Hashes of numbers and tuples are no secret, so keys can be made to collide, which makes a dict of n keys cost n².
  Each such *weak* key of an evaluation costs more than the one before.
- Integers have no size limit; every guard that makes one checks its result.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

Budget = list[int]

FUEL = 2_000_000
"""Default for one evaluation; about 0.1 s at the worst."""
TEXT = 1_000_000
"""Characters of one string, bytes of one bytes object."""
ITEMS = 250_000
"""Items of one collection that an expression makes."""
INT_BITS = 4096
"""Bits of an integer that an expression makes."""
INT_LIMIT = 1 << INT_BITS
NESTING = 64
"""How deep collections may lie in each other where they are compared, written or returned."""
SOURCE = 20_000
"""Characters of an expression."""
SCRIPT_SOURCE = 100_000
NODES = 5_000
SCRIPT_NODES = 25_000
"""Nodes of a syntax tree."""
DEPTH = 60
"""Depth of a syntax tree."""

SCALARS = frozenset({int, float, bool, type(None), Decimal, datetime, date, time, timedelta, UUID})
_STRONG = frozenset({str, bytes, bool, type(None)})
_PLAIN_INT = 1 << 60


class OutOfBounds(Exception):
    """A limit was reached; the message says which. Becomes an `ExpressionLimit`."""


def charge(budget: Budget, units: int) -> bool:
    """Take fuel. Gives True, so that it can stand in a condition."""
    budget[0] -= units
    if budget[0] < 0:
        raise OutOfBounds("it takes too many steps; work on less data or use an activity")
    return True


def check_text(budget: Budget, length: int) -> None:
    if length > TEXT:
        raise OutOfBounds(f"a text would have {length:,} characters, at most {TEXT:,} are allowed")
    charge(budget, (length >> 3) + 1)


def check_items(budget: Budget, count: int) -> None:
    if count > ITEMS:
        raise OutOfBounds(f"a collection would have {count:,} items, at most {ITEMS:,} are allowed")
    charge(budget, count + 1)


def check_int(budget: Budget, value: int) -> int:
    bits = value.bit_length()
    if bits > INT_BITS:
        raise OutOfBounds(f"a number would have {bits:,} bits, at most {INT_BITS:,} are allowed")
    charge(budget, bits >> 6)
    return value


def check_decimal(value: Decimal) -> Decimal:
    """Refuse a Decimal that is short to write and endless as an integer or in full."""
    if value.is_finite() and abs(value.adjusted()) > INT_BITS:
        raise OutOfBounds(f"a Decimal has an exponent beyond ±{INT_BITS:,}")
    return value


def weigh(budget: Budget, value: Any, depth: int = NESTING) -> Any:
    """Charge for everything that lies in a value, as a tree; gives the value back."""
    kind = value.__class__
    if kind in SCALARS:
        return value
    if isinstance(value, str | bytes):
        charge(budget, (len(value) >> 6) + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        _weigh_items(budget, value, len(value), depth)
        if isinstance(value, set | frozenset):
            charge(budget, _collisions(budget))
    elif isinstance(value, dict):
        _weigh_items(budget, value.values(), len(value), depth)
        _weigh_items(budget, value, len(value), depth)
        charge(budget, _collisions(budget))
    else:
        charge(budget, 1)
    return value


def _weigh_items(budget: Budget, items: Any, count: int, depth: int) -> None:
    charge(budget, count + 1)
    if depth <= 0:
        raise OutOfBounds(f"collections lie in each other deeper than {NESTING} levels")
    for item in items:
        if item.__class__ not in SCALARS:
            weigh(budget, item, depth - 1)


def key(budget: Budget, value: Any) -> Any:
    """Charge for a key of a dict or an item of a set before it is hashed."""
    kind = value.__class__
    if kind in _STRONG or (kind is int and -_PLAIN_INT < value < _PLAIN_INT):
        return value
    weigh(budget, value)
    budget[1] += 1
    charge(budget, budget[1] >> 2)
    return value


def keys(budget: Budget, items: Any) -> Any:
    for item in items:
        key(budget, item)
    return items


def _collisions(budget: Budget) -> int:
    """What an operation over all keys of a hashed collection may cost with the weak keys made so far."""
    return (budget[1] * budget[1]) >> 5
