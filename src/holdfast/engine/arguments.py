"""What an application is given, in a shape that it can use; refused with what to write instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from holdfast.errors import SettingsError


def check_store(store: Any) -> None:
    """An address, or an object that does what a store does. Refused here: when it is opened is too late."""
    if store is None or isinstance(store, str):
        return
    if isinstance(store, type):
        remedy = f"is a class. Make one of it: store={store.__name__}()."
    elif isinstance(store, Path):
        remedy = f'is a path. Give an address: store="sqlite:///{store}".'
    elif not hasattr(store, "wait_for_change"):
        remedy = 'is no store. Give an address such as "sqlite:///holdfast.db", or a Store.'
    else:
        return
    raise SettingsError(f"store={store!r} {remedy}")


def listed(name: str, given: Any) -> tuple[Any, ...]:
    """What was given under that name, which is several; one alone is refused, also where it could be iterated over."""
    if isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        return tuple(given)
    raise SettingsError(
        f"{name}={given!r} is not a list. "
        f"Give {name}=[{_shown(given, named=name != 'activities')}], also if it is only one."
    )


def _shown(given: Any, *, named: bool) -> str:
    """As it would stand in the list; a text stands for a file or folder where those may be `named`."""
    if isinstance(given, str) and named:
        return f"Path({given!r})"
    if isinstance(given, Path):
        return f"Path('{given}')"
    return str(getattr(getattr(given, "function", given), "__name__", "…"))
