"""Registry of the types that stored data may name."""

from __future__ import annotations

import builtins
import sys
import typing
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

from holdfast import errors
from holdfast.errors import ActivityDeclarationError, PluginError
from holdfast.model.module_names import current_name, public_name
from holdfast.model.values.forms import form_of

__all__ = ["TypeRegistry", "default_name"]


def default_name(cls: type) -> str:
    """`module:qualname`; built-in exceptions use their plain name."""
    if cls.__module__ == "builtins":
        return cls.__qualname__
    return public_name(cls)


def _exceptions_of(module: Any) -> dict[str, type]:
    found = (cls for cls in vars(module).values() if isinstance(cls, type) and issubclass(cls, BaseException))
    return {default_name(cls): cls for cls in found if cls.__module__ == module.__name__}


_ALWAYS_KNOWN = {**_exceptions_of(builtins), **_exceptions_of(errors)}
"""Exceptions that every registry knows, since faults are stored as values."""


class TypeRegistry:
    """Classes by public name: dataclasses, enums, Structs, named tuples, pydantic models and exceptions.

    Classes in the annotations of a registered class are registered with it.
    """

    __slots__ = ("_by_name", "_names")

    def __init__(self, classes: Iterable[type] = ()) -> None:
        self._by_name: dict[str, type] = {}
        self._names: dict[type, str] = {}
        for cls in classes:
            self.register(cls)

    def register(self, cls: type, name: str | None = None, aliases: Iterable[str] = ()) -> None:
        """Register the class. Aliases are further names that stored data may use."""
        if not is_registrable(cls):
            raise ActivityDeclarationError(
                f"{cls!r} cannot be registered as a value type. Register dataclasses, enums, msgspec Structs, named "
                "tuples, pydantic models and exceptions."
            )
        public = name or self._names.get(cls) or default_name(cls)
        self._claim(public, cls)
        self._names[cls] = public
        for alias in aliases:
            self._claim(alias, cls)
        self._by_name.setdefault(default_name(cls), cls)
        for part in _classes_in_parts(cls):
            if part not in self._names:
                self.register(part)

    def _claim(self, name: str, cls: type) -> None:
        taken = self._by_name.get(name, cls)
        if taken is not cls:
            raise PluginError(
                f"The value type name '{name}' is claimed by {taken!r} and by {cls!r}. "
                "Register one of them under another name: register(cls, name=…)."
            )
        self._by_name[name] = cls

    def name_of(self, cls: type) -> str:
        """The name to store; for an unregistered class its default name."""
        return self._names.get(cls) or default_name(cls)

    def find(self, name: str) -> type | None:
        """The class of a stored name: a registered name or alias, or the place in a loaded module where a registered class can
        still be imported from. Data never causes an import (rule H11)."""
        return self._by_name.get(name) or _ALWAYS_KNOWN.get(name) or self._reexported(name)

    def _reexported(self, name: str) -> type | None:
        module, _, path = name.partition(":")
        found: Any = sys.modules.get(current_name(module)) if path else None
        for part in path.split("."):
            found = getattr(found, part, None)
        return found if isinstance(found, type) and found in self._names else None

    def __contains__(self, cls: object) -> bool:
        return cls in self._names or (isinstance(cls, type) and _ALWAYS_KNOWN.get(default_name(cls)) is cls)

    def __iter__(self) -> Iterator[type]:
        return iter(self._names)

    def including(self, *classes: type) -> TypeRegistry:
        """A new registry that also has these classes."""
        extended = TypeRegistry().merged(self)
        for cls in classes:
            if cls not in extended._names:
                extended.register(cls)
        return extended

    def merged(self, other: TypeRegistry) -> TypeRegistry:
        """A new registry with the types of both. Refuses a name with different classes."""
        union = TypeRegistry()
        for source in (self, other):
            for name, cls in source._by_name.items():
                union._claim(name, cls)
            union._names.update(source._names)
        return union


def is_registrable(cls: object) -> bool:
    return isinstance(cls, type) and (issubclass(cls, (Enum, BaseException)) or form_of(cls) is not None)


def _classes_in_parts(cls: type) -> list[type]:
    if issubclass(cls, (Enum, BaseException)):
        return []
    found: dict[type, None] = {}
    for annotation in _annotations_of(cls).values():
        _collect(annotation, found)
    return list(found)


def _annotations_of(cls: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls)
    except Exception:  # noqa: BLE001 # evaluating an annotation runs arbitrary code
        # A name that exists only for type checkers: resolve the annotations one by one and keep those that work.
        return {name: hint for name, hint in _each_annotation(cls) if not isinstance(hint, str)}


def _each_annotation(cls: type) -> Iterator[tuple[str, Any]]:
    for base in reversed(cls.__mro__):
        for name, hint in vars(base).get("__annotations__", {}).items():
            holder = type("_One", (), {"__annotations__": {name: hint}, "__module__": base.__module__})
            try:
                yield name, typing.get_type_hints(holder)[name]
            except Exception:  # noqa: BLE001 # as above
                yield name, str(hint)


def _collect(annotation: Any, found: dict[type, None]) -> None:
    arguments = typing.get_args(annotation)
    origin = typing.get_origin(annotation)
    for candidate in (annotation, origin):
        if is_registrable(candidate):
            found[candidate] = None
    for argument in arguments:
        _collect(argument, found)
