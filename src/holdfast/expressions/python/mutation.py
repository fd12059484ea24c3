"""Mutation by scripts: a script may change the collections it created itself, and its outcomes.

Values of the workflow are never changed in place, because another branch, the journal or the host may hold the same
object. Lists, dicts and sets created by the script are tracked by identity while it runs, and kept alive so that no
other object can get the same identity.
"""

from __future__ import annotations

from typing import Any

from holdfast.expressions.budget import Budget, charge, check_items, key, weigh

Owned = dict[int, Any]

_LIST = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "reverse"})
_DICT = frozenset({"update", "pop", "setdefault", "clear"})
_SET = frozenset({"add", "discard", "remove", "update", "clear"})
CHANGES = _LIST | _DICT | _SET
"""Methods that change a collection; allowed only as statements of a script."""


def own(owned: Owned, value: Any) -> Any:
    if value.__class__ in (list, dict, set):
        owned[id(value)] = value
    return value


def put(budget: Budget, owned: Owned, target: Any, index: Any, value: Any) -> None:
    """`target[index] = value`."""
    _check_owned(owned, target)
    if target.__class__ is set:
        raise TypeError("a set has no items to assign; use add()")
    if target.__class__ is dict:
        key(budget, index)
    charge(budget, 2)
    target[index] = value


def drop(budget: Budget, owned: Owned, target: Any, index: Any) -> None:
    """`del target[index]`."""
    _check_owned(owned, target)
    charge(budget, len(target) if target.__class__ is list else 1)
    del target[key(budget, index)]


def change(budget: Budget, owned: Owned, target: Any, name: str, /, *args: Any) -> None:
    """`target.append(value)` and similar calls."""
    _check_owned(owned, target)
    kind = target.__class__
    if name not in (_LIST if kind is list else _DICT if kind is dict else _SET):
        raise AttributeError(f"{kind.__name__} has no method '{name}'")
    if name in ("append", "add", "setdefault", "discard"):
        charge(budget, 2)
    else:
        charge(budget, len(target) + 1)
    if kind is not list:
        _check_keys(budget, name, args)
    elif name == "extend":
        _check_collection(args)
    elif name == "remove":
        weigh(budget, target)
        weigh(budget, args)
    getattr(kind, name)(target, *args)
    check_items([1 << 62, 0, 0], len(target))


def _check_keys(budget: Budget, name: str, args: tuple[Any, ...]) -> None:
    if name == "update":
        _check_collection(args)
        for entry in args[0]:
            key(budget, entry)
    elif args:
        key(budget, args[0])


def _check_collection(args: tuple[Any, ...]) -> None:
    if len(args) != 1 or not isinstance(args[0], list | tuple | dict | set | frozenset | str):
        raise TypeError("it takes one collection")


def _check_owned(owned: Owned, target: Any) -> None:
    if id(target) not in owned:
        raise TypeError(
            f"this {type(target).__name__} belongs to the workflow and cannot be changed in place; "
            "copy it first, change the copy and assign it: items = list(items)"
        )


def set_outcomes(outcomes: list[Any], /, *names: Any) -> None:
    """`set_outcome("Done")`, `set_outcomes(["A", "B"])`: the last call wins."""
    chosen = names[0] if len(names) == 1 and isinstance(names[0], list | tuple) else names
    if not chosen or not all(isinstance(name, str) for name in chosen):
        raise TypeError("outcomes must be text, such as set_outcome('Approved')")
    outcomes[:] = [tuple(chosen)]
