"""Check whether a large value is plain JSON, level by level instead of item by item.

A loop over ten thousand records is written with every burst that changes one of them. Visiting each record in Python costs
five times as much as packing it; collecting the classes of a whole level (`map`, `chain`, `set`) does not.
"""

from __future__ import annotations

from datetime import datetime, time
from itertools import chain
from math import isfinite
from types import NoneType
from typing import Any, NamedTuple

from holdfast.model.values.check import MAX_DEPTH, SCALARS

__all__ = ["Tree", "is_large", "tree_of"]

MANY = 64
"""Minimum number of items for which the check by level is faster."""

_CONTAINERS: frozenset[type] = frozenset({dict, list})
_JSON: frozenset[type] = frozenset({str, int, float, bool, NoneType})
_LEAVES = SCALARS | {datetime, time}
_RESERVED = "$"
"""First character of tag names."""


class Tree(NamedTuple):
    identities: set[int]
    """Ids of every list and dict in it, including itself."""
    is_json: bool
    """Whether it can be written unchanged. Packing refuses lone surrogates and ints beyond 64 bits."""


def is_large(value: Any) -> bool:
    return (value.__class__ is list or value.__class__ is dict) and len(value) > MANY


def tree_of(value: list[Any] | dict[Any, Any]) -> Tree | None:
    """None if the value has parts other than lists, dicts with text keys and scalars, if a part occurs twice, or if it is
    nested too deeply."""
    found: set[int] = set()
    level: list[Any] = [value]
    is_json = True
    for _ in range(MAX_DEPTH):
        known = len(found)
        found.update(map(id, level))
        if len(found) < known + len(level):
            return None
        dicts, lists = _of_kind(level, dict), _of_kind(level, list)
        if not _have_names(dicts):
            return None
        inside = [*chain.from_iterable(map(dict.values, dicts)), *chain.from_iterable(lists)]
        kinds = set(map(type, inside))
        leaves = kinds - _CONTAINERS
        if not leaves <= _JSON:
            if not leaves <= _LEAVES:
                return None
            is_json = False
        if float in kinds and not all(map(isfinite, _of_kind(inside, float))):
            is_json = False
        if not kinds & _CONTAINERS:
            return Tree(found, is_json)
        level = inside if kinds <= _CONTAINERS else [item for item in inside if item.__class__ in _CONTAINERS]
    return None


def _of_kind(items: list[Any], kind: type) -> list[Any]:
    return [item for item in items if item.__class__ is kind]


def _have_names(dicts: list[dict[Any, Any]]) -> bool:
    """Checks the class of each key: a member of a `StrEnum` equals its text and may be missing from a set of keys."""
    if not set(map(type, chain.from_iterable(dicts))) <= {str}:
        return False
    return all(key[:1] != _RESERVED for key in set[str]().union(*dicts))
