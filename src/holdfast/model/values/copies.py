"""Deep copies: values that enter or leave an activity must not be changed from the other side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.model.values.check import MAX_ITEMS, SCALARS, Refusal, Walk, admit, check_keys, spend, step_to
from holdfast.model.values.forms import Form
from holdfast.model.values.registry import TypeRegistry

__all__ = ["copy"]


def copy(value: Any, name: str = "value", types: TypeRegistry | None = None) -> Any:
    """Copies containers and objects. Deeply immutable values and exceptions are returned as they are. Refuses like `check`."""
    if value.__class__ in SCALARS:
        return value
    try:
        return _copy(value, 0, (types, [MAX_ITEMS]))
    except Refusal as refusal:
        raise refusal.named(name) from None


def _copy(value: Any, depth: int, walk: Walk) -> Any:
    cls = value.__class__
    copier = _COPIERS.get(cls)
    if copier is not None:
        spend(cls, len(value), depth, walk)
        return copier(value, depth + 1, walk)
    if cls in SCALARS:
        return value
    form = admit(value, cls, walk[0])
    if form is None:
        return value
    spend(cls, len(form.part_names), depth, walk)
    parts = form.apart(value)
    copied = _values(parts, depth + 1, walk)
    if form.frozen and all(copied[name] is part for name, part in parts.items()):
        return value
    return _together(form, copied, cls)


def _together(form: Form, parts: dict[str, Any], cls: type) -> Any:
    try:
        return form.together(parts)
    except Exception as error:
        raise Refusal(cls.__qualname__, f"An equal object cannot be built from its fields: {error}") from error


def _items(value: Any, depth: int, walk: Walk) -> list[Any]:
    if SCALARS.issuperset(map(type, value)):
        return list(value)
    copied: list[Any] = []
    try:
        for item in value:
            copied.append(item if item.__class__ in SCALARS else _copy(item, depth, walk))  # noqa: PERF401 # len is the index
    except Refusal as refusal:
        refusal.steps.append(f"[{len(copied)}]")
        raise
    return copied


def _values(value: dict[Any, Any], depth: int, walk: Walk) -> dict[Any, Any]:
    copied = {}
    key = None
    try:
        for key, item in value.items():
            copied[key] = item if item.__class__ in SCALARS else _copy(item, depth, walk)
    except Refusal as refusal:
        refusal.steps.append(step_to(key))
        raise
    return copied


def _copy_dict(value: dict[Any, Any], depth: int, walk: Walk) -> dict[Any, Any]:
    if not SCALARS.issuperset(map(type, value)):
        check_keys(value, depth, walk)
    return _values(value, depth, walk)


def _copy_tuple(value: tuple[Any, ...], depth: int, walk: Walk) -> tuple[Any, ...]:
    copied = _items(value, depth, walk)
    return value if all(new is old for new, old in zip(copied, value, strict=True)) else tuple(copied)


def _copy_set(value: set[Any], depth: int, walk: Walk) -> set[Any]:
    """Members are hashable, hence treated as immutable: they are checked, not copied."""
    _items(value, depth, walk)
    return set(value)


def _copy_frozenset(value: frozenset[Any], depth: int, walk: Walk) -> frozenset[Any]:
    _items(value, depth, walk)
    return value


_COPIERS: dict[type, Callable[[Any, int, Walk], Any]] = {
    list: _items,
    tuple: _copy_tuple,
    set: _copy_set,
    frozenset: _copy_frozenset,
    dict: _copy_dict,
}
