"""Length of a value as text, estimated before the text is made.

The estimate is never too high, so that a value is refused only if its text is too long.
"""

from __future__ import annotations

from decimal import Decimal
from sys import getsizeof
from typing import Any

from holdfast.expressions.budget import MAX_NESTING, MAX_TEXT, SCALARS, Budget, OutOfBounds, charge
from holdfast.expressions.python.access import fields_of

_DECIMAL_BYTES = getsizeof(Decimal(1))
_DIGITS_PER_BYTE = 2
"""A word of eight bytes holds 19 digits."""
_STEP = 1_000
"""Items between two charges."""


def check_written(budget: Budget, value: Any, indent: int = 0) -> None:
    """Raise if the text of the value would be longer than texts may be."""
    _Estimate(budget, indent).add(value, 0)


class _Estimate:
    __slots__ = ("_budget", "_indent", "_items", "_length")

    def __init__(self, budget: Budget, indent: int) -> None:
        self._budget = budget
        self._indent = indent
        self._length = 0
        self._items = 0

    def add(self, value: Any, depth: int) -> None:
        self._length += 1 + self._indent * depth
        if isinstance(value, str | bytes):
            self._length += len(value)
        elif isinstance(value, int):
            self._length += value.bit_length() >> 2
        elif isinstance(value, Decimal):
            self._length += _DIGITS_PER_BYTE * max(0, getsizeof(value) - _DECIMAL_BYTES)
        elif value.__class__ not in SCALARS:
            self._add_parts(value, depth)
        if self._length > MAX_TEXT:
            raise OutOfBounds(f"a text would have more than {MAX_TEXT:,} characters")

    def _add_parts(self, value: Any, depth: int) -> None:
        if depth > MAX_NESTING:
            raise OutOfBounds(f"collections are nested deeper than {MAX_NESTING} levels")
        if isinstance(value, dict):
            parts: Any = (part for pair in value.items() for part in pair)
        elif isinstance(value, list | tuple | set | frozenset):
            parts = value
        else:
            parts = [getattr(value, name) for name in fields_of(type(value))]
        for part in parts:
            self._items += 1
            if self._items % _STEP == 0:
                charge(self._budget, _STEP)
            self.add(part, depth + 1)
