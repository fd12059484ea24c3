"""Checks of the arguments of `Holdfast(…)`. Errors say what to write instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from holdfast.errors import InvalidDefinition, SettingsError
from holdfast.model.commit_strategies import refusal
from holdfast.model.definition import Definition
from holdfast.model.problem import Problem
from holdfast.plugins import Registry
from holdfast.settings import Settings, load_settings


def check_store(store: Any) -> None:
    """Raise `SettingsError` unless `store` is an address or a store, before the application is opened."""
    if store is None or isinstance(store, str):
        return
    if isinstance(store, type):
        remedy = f"is a class. Create an object: store={store.__name__}()."
    elif isinstance(store, Path):
        remedy = f'is a path. Give an address: store="sqlite:///{store}".'
    elif not hasattr(store, "wait_for_change"):
        remedy = 'is not a store. Give an address such as "sqlite:///holdfast.db", or a Store.'
    else:
        return
    raise SettingsError(f"store={store!r} {remedy}")


def checked_settings(given: Mapping[str, Any], registry: Registry) -> Settings:
    """The settings from all sources. Raises `SettingsError` for an unknown commit strategy, before a workflow is compiled."""
    settings = load_settings(given, declared=registry.settings)
    name = settings.commit_strategy
    reason = refusal(name, registry.commit_strategies) if name else None
    if reason is not None:
        raise SettingsError(f"commit_strategy={name!r}: {reason} Leave it empty to add no commits.")
    return settings


def checked_definition(definition: Definition, registry: Registry) -> Definition:
    """The definition. Raises `InvalidDefinition` for an unknown commit strategy, before the application is opened."""
    name = definition.options.commit
    reason = None if name is None else refusal(name, registry.commit_strategies)
    if reason is not None:
        remedy = "Plugins can register more strategies."
        problem = Problem(path="/options/commit", code="unknown-mode", message=reason, remedy=remedy)
        raise InvalidDefinition([problem], name=f"Workflow '{definition.title}'")
    return definition


def listed(name: str, given: Any) -> tuple[Any, ...]:
    """The argument as a tuple. Raises `SettingsError` for a single value, even for a string or mapping."""
    if isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        return tuple(given)
    raise SettingsError(
        f"{name}={given!r} is not a list. "
        f"Give {name}=[{_shown(given, named=name != 'activities')}], even for a single item."
    )


def _shown(given: Any, *, named: bool) -> str:
    """The value as an item of the list; `named`: a string is the path of a file or folder."""
    if isinstance(given, str) and named:
        return f"Path({given!r})"
    if isinstance(given, Path):
        return f"Path('{given}')"
    return str(getattr(getattr(given, "function", given), "__name__", "…"))
