"""Blocks inside small values: `state["orders"]` or `desk.orders`, where the variable itself is not a block.

A text that mentions such a variable runs in its traced form, which reports each step to the block. Values that leave the
text in another way are searched for blocks, and the blocks are touched as a whole.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime, time
from enum import Enum
from functools import lru_cache
from inspect import getattr_static
from types import MemberDescriptorType
from typing import Any

from holdfast.model.values import SCALARS

VALUES_MAX = 1_000
"""Values that are searched for blocks."""
_MISSING = object()
_LEAVES = (Enum, datetime, time, type)


@lru_cache(1024)
def is_field(cls: type, name: str) -> bool:
    """Whether reading and setting this attribute runs no code of users."""
    if not dataclasses.is_dataclass(cls) or cls.__getattribute__ is not object.__getattribute__:
        return False
    if name not in {field.name for field in dataclasses.fields(cls)} or cls.__setattr__ is not object.__setattr__:
        return False
    found = getattr_static(cls, name, _MISSING)
    return found is _MISSING or found.__class__ is MemberDescriptorType or not hasattr(found.__class__, "__get__")


def objects_in(value: Any) -> list[Any] | None:
    """The value and the objects in it, without scalars; None if one of them cannot be searched."""
    found, seen = [value], {id(value)}
    for item in found:  # grows while it is iterated
        parts = _parts(item)
        if parts is None or len(found) > VALUES_MAX:
            return None
        for part in parts:
            if part.__class__ not in SCALARS and id(part) not in seen:
                seen.add(id(part))
                found.append(part)
    return found


def _parts(item: Any) -> list[Any] | None:
    cls = item.__class__
    if cls in (list, tuple, set, frozenset):
        return list(item) if len(item) <= VALUES_MAX else None
    if cls is dict:
        return [part for pair in item.items() for part in pair] if len(item) <= VALUES_MAX else None
    if isinstance(item, _LEAVES):
        return []
    names = _plain_fields(cls)
    return None if names is None else [getattr(item, name, None) for name in names]


@lru_cache(1024)
def _plain_fields(cls: type) -> tuple[str, ...] | None:
    """The fields of a dataclass; None for other classes, and if reading a field runs code of users."""
    if not dataclasses.is_dataclass(cls):
        return None
    names = tuple(field.name for field in dataclasses.fields(cls))
    return names if all(is_field(cls, name) for name in names) else None
