"""Check whether a value can be stored in the state of an instance, made when the value is set."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from types import NoneType
from typing import Any, NoReturn
from uuid import UUID

from holdfast.errors import ValueRefused
from holdfast.model.values.forms import Form, form_of
from holdfast.model.values.registry import TypeRegistry, default_name
from holdfast.model.values.remedies import NAIVE, TOO_DEEP, TOO_LARGE, UNREGISTERED, remedy_for

__all__ = [
    "MAX_DEPTH",
    "MAX_ITEMS",
    "SCALARS",
    "Refusal",
    "Walk",
    "admit",
    "check",
    "check_keys",
    "refuse",
    "spend",
    "step_to",
]

SCALARS: frozenset[type] = frozenset({NoneType, bool, int, float, str, bytes, Decimal, timedelta, UUID, date})
"""Immutable classes that are always storable; subclasses are not."""

MAX_DEPTH = 100
"""Maximum nesting, which also ends the traversal of a value that contains itself."""

MAX_ITEMS = 1_000_000
"""Maximum number of items as a JSON tree. A list that holds one list twice, forty levels deep, is small in memory only."""

_SHOWN_STEPS = 8

Walk = tuple[TypeRegistry | None, list[int]]
"""The registry that classes must be in (None accepts all), and the remaining item budget."""


class Refusal(Exception):
    """Collects the path to the refused part while it propagates."""

    def __init__(self, type_name: str, remedy: str) -> None:
        self.type_name = type_name
        self.remedy = remedy
        self.steps: list[str] = []

    def named(self, name: str) -> ValueRefused:
        steps = self.steps[::-1]
        more = "…" if len(steps) > _SHOWN_STEPS else ""
        return ValueRefused(name + "".join(steps[:_SHOWN_STEPS]) + more, self.type_name, remedy=self.remedy)


def check(value: Any, name: str, types: TypeRegistry | None = None) -> None:
    """Raise `ValueRefused` with the path inside the value if it cannot be stored.

    With `types`, unregistered classes are refused too.
    """
    if value.__class__ in SCALARS:
        return
    try:
        _check(value, 0, (types, [MAX_ITEMS]))
    except Refusal as refusal:
        raise refusal.named(name) from None


# -- traversal ---------------------------------------------------------------------------------------------------------


def _check(value: Any, depth: int, walk: Walk) -> None:
    cls = value.__class__
    if cls is list or cls is tuple or cls is set or cls is frozenset:
        spend(cls, len(value), depth, walk)
        if not SCALARS.issuperset(map(type, value)):
            _check_items(value, depth + 1, walk)
    elif cls is dict:
        spend(cls, len(value), depth, walk)
        if not SCALARS.issuperset(map(type, value)):
            check_keys(value, depth + 1, walk)
        if not SCALARS.issuperset(map(type, value.values())):
            _check_values(value, depth + 1, walk)
    elif cls not in SCALARS:
        form = admit(value, cls, walk[0])
        if form is not None:
            spend(cls, len(form.part_names), depth, walk)
            _check_parts(form.apart(value), depth + 1, walk)


def spend(cls: type, items: int, depth: int, walk: Walk) -> None:
    if depth >= MAX_DEPTH:
        raise Refusal(cls.__qualname__, TOO_DEEP)
    walk[1][0] -= items + 1
    if walk[1][0] < 0:
        raise Refusal(cls.__qualname__, TOO_LARGE)


def _check_items(items: Any, depth: int, walk: Walk) -> None:
    index = 0
    try:
        for item in items:
            if item.__class__ not in SCALARS:
                _check(item, depth, walk)
            index += 1
    except Refusal as refusal:
        refusal.steps.append(f"[{index}]")
        raise


def check_keys(value: dict[Any, Any], depth: int, walk: Walk) -> None:
    for key in value:
        try:
            _check(key, depth, walk)
        except Refusal as refusal:
            refusal.steps.append(f"[key {key.__class__.__qualname__}]")
            raise


def _check_values(value: dict[Any, Any], depth: int, walk: Walk) -> None:
    key = None
    try:
        for key, item in value.items():  # noqa: B007 # the handler reads the current key
            if item.__class__ not in SCALARS:
                _check(item, depth, walk)
    except Refusal as refusal:
        refusal.steps.append(step_to(key))
        raise


def _check_parts(parts: dict[str, Any], depth: int, walk: Walk) -> None:
    name = ""
    try:
        for name, part in parts.items():  # noqa: B007 # the handler reads the current name
            if part.__class__ not in SCALARS:
                _check(part, depth, walk)
    except Refusal as refusal:
        refusal.steps.append(f".{name}")
        raise


def step_to(key: Any) -> str:
    """A dict key as a step of the path."""
    if isinstance(key, str) and key.isidentifier():
        return f".{key}"
    return f"[{key!r}]" if key.__class__ in SCALARS else f"[{key.__class__.__qualname__}]"


def admit(value: Any, cls: type, types: TypeRegistry | None) -> Form | None:
    """The form of an object's class, or None if it has no parts. Raises `Refusal` for values that cannot be stored."""
    if cls is datetime:
        if value.utcoffset() is None:
            raise Refusal("datetime without a time zone", NAIVE)
        return None
    if cls is time or isinstance(value, BaseException):
        return None
    form = None if isinstance(value, Enum) else form_of(cls)
    if form is None and not isinstance(value, Enum):
        raise Refusal(cls.__qualname__, remedy_for(cls))
    if types is not None and cls not in types:
        raise Refusal(cls.__qualname__, UNREGISTERED.format(name=default_name(cls)))
    return form


def refuse(cls: type, name: str, remedy: str | None = None) -> NoReturn:
    """Raise `ValueRefused` in the encoder, for values that were not checked."""
    raise ValueRefused(name, cls.__qualname__, remedy=remedy or remedy_for(cls))
