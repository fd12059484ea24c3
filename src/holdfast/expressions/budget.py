"""Cost limits of expression evaluation.

Time and memory are counted, not measured, so an expression that passes once passes on every machine. A unit of fuel is
about one executed syntax node, one touched item of a collection, eight characters of new text, or 64 characters compared.
A budget is a plain list `[fuel, weak keys, reserve]`, because every guard uses it. Fuel is handed out in slices: between two
slices the event loop gets a turn, if the caller can be suspended.

Four costs that Python hides are counted here:

- A value may contain another value twice (`x = [x, x]`, thirty times). It is small in memory, but `==`, `str`, `hash`
  and serialization take exponential time. `weigh` walks such a value as a tree, so that it runs out of fuel first.
- Hashes of numbers and tuples are predictable, so keys can be made to collide, and a dict of n keys then costs n². Each
  such *weak* key of an evaluation costs more than the one before.
- A search for a text in a text may compare every character of one with every character of the other (`check_search`).
- Integers have no size limit. Every guard that creates an integer checks its size.
"""

from __future__ import annotations

from collections.abc import Generator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from holdfast.execution.suspension import may_wait, wait_for

Budget = list[int]
SLICE = 200_000
"""Fuel between two turns of the event loop: a few milliseconds."""

DEFAULT_FUEL = 2_000_000
"""Default for one evaluation; about 0.1 s in the worst case."""
MAX_TEXT = 1_000_000
"""Maximum characters of a string, or bytes of a bytes object."""
MAX_ITEMS = 250_000
"""Maximum items of a collection that an expression creates."""
MAX_INT_BITS = 4096
"""Maximum bits of an integer that an expression creates."""
MAX_INT = 1 << MAX_INT_BITS
MAX_NESTING = 64
"""Maximum nesting of collections that are compared, written or returned."""
MAX_SOURCE = 20_000
"""Maximum characters of an expression."""
MAX_SCRIPT_SOURCE = 100_000
MAX_NODES = 5_000
MAX_SCRIPT_NODES = 25_000
"""Maximum nodes of a syntax tree."""
MAX_DEPTH = 60
"""Maximum depth of a syntax tree."""

SCALARS = frozenset({int, float, bool, type(None), Decimal, datetime, date, time, timedelta, UUID})
_STRONG = frozenset({str, bytes, bool, type(None)})
_PLAIN_INT = 1 << 60
SHORT_KEY = 1_000
"""Characters of a key that is compared for free."""


class OutOfBounds(Exception):
    """A limit was exceeded; the message names it. Becomes an `ExpressionLimit`."""


class _Turn:
    """Awaited: one turn of the event loop."""

    def __await__(self) -> Generator[None, None, None]:
        yield


def new_budget(fuel: int) -> Budget:
    first = min(fuel, SLICE)
    return [first, 0, fuel - first]


def charge(budget: Budget, units: int) -> bool:
    """Consume fuel. Returns True, so that it can be part of a condition."""
    budget[0] -= units
    if budget[0] < 0:
        _take_slice(budget)
    return True


def _take_slice(budget: Budget) -> None:
    """Continue with the reserve, after a turn of the event loop."""
    if budget[0] + budget[2] < 0:
        raise OutOfBounds("it takes too many steps; process less data or use an activity")
    taken = min(budget[2], SLICE - budget[0])
    budget[0] += taken
    budget[2] -= taken
    if may_wait():
        wait_for(_Turn())


def left_of(budget: Budget) -> int:
    """Fuel that is left."""
    return budget[0] + budget[2]


def check_search(budget: Budget, text: Any, wanted: Any) -> None:
    """Charge for a search in the worst case: each character of one text is compared with each one of the other."""
    charge(budget, (len(text) * max(1, len(wanted)) >> 6) + 1)


def check_text(budget: Budget, length: int) -> None:
    if length > MAX_TEXT:
        raise OutOfBounds(f"a text would have {length:,} characters, at most {MAX_TEXT:,} are allowed")
    charge(budget, (length >> 3) + 1)


def check_items(budget: Budget, count: int) -> None:
    if count > MAX_ITEMS:
        raise OutOfBounds(f"a collection would have {count:,} items, at most {MAX_ITEMS:,} are allowed")
    charge(budget, count + 1)


def check_int(budget: Budget, value: int) -> int:
    bits = value.bit_length()
    if bits > MAX_INT_BITS:
        raise OutOfBounds(f"a number would have {bits:,} bits, at most {MAX_INT_BITS:,} are allowed")
    charge(budget, bits >> 6)
    return value


def check_decimal(value: Decimal) -> Decimal:
    """Refuse a Decimal with a huge exponent: short to write, but huge as an integer or in full notation."""
    if value.is_finite() and abs(value.adjusted()) > MAX_INT_BITS:
        raise OutOfBounds(f"a Decimal has an exponent beyond ±{MAX_INT_BITS:,}")
    return value


def weigh(budget: Budget, value: Any, depth: int = MAX_NESTING) -> Any:
    """Charge for everything in a value, counted as a tree. Returns the value."""
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
        raise OutOfBounds(f"collections are nested deeper than {MAX_NESTING} levels")
    for item in items:
        if item.__class__ not in SCALARS:
            weigh(budget, item, depth - 1)


def key(budget: Budget, value: Any) -> Any:
    """Charge for a dict key or set item before it is hashed."""
    kind = value.__class__
    if kind in _STRONG or (kind is int and -_PLAIN_INT < value < _PLAIN_INT):
        if kind is str and len(value) > SHORT_KEY:
            charge(budget, len(value) >> 6)  # Equal keys are compared.
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
    """Worst-case cost of an operation over all keys of a hashed collection, given the weak keys created so far."""
    return (budget[1] * budget[1]) >> 5
