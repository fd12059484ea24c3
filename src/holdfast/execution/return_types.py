"""Return types: whether the result of a function has the type of its annotation.

Only the class of the result is checked, not its items, so the check costs the same for any size. Annotations that have no
class to check (type variables, protocols, `Any`, literals) accept every result. Values are compared as they may come back from
another process: a tuple may be a list, and a subclass of a built-in class its built-in class.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any

from holdfast.model.values.display import readable

_UNIONS = (typing.Union, UnionType)
_WIDER: Mapping[type, tuple[type, ...]] = {
    float: (float, int),
    complex: (complex, float, int),
    bytes: (bytes, bytearray, memoryview),
    list: (list, tuple),
    tuple: (list, tuple),
    set: (set, frozenset),
    frozenset: (set, frozenset),
    dict: (Mapping,),
}
"""Classes that a type checker or the trip to another process allows in place of a class."""
_CONTAINERS = (Iterable, Collection, Sequence, Mapping)
_EXCERPT_MAX = 60


def allowed_classes(annotation: Any) -> tuple[type, ...] | None:
    """The classes of valid results; None if every result is accepted."""
    if annotation is None or annotation is NoneType or annotation is object or annotation is Any:
        return None  # A function without a result may return anything: nothing reads it by type.
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return allowed_classes(typing.get_args(annotation)[0])
    if origin in _UNIONS:
        return _allowed_by_any(typing.get_args(annotation))
    if isinstance(annotation, typing.NewType):
        return allowed_classes(annotation.__supertype__)
    if typing.is_typeddict(annotation):
        return (Mapping,)
    cls = annotation if origin is None else origin
    return _allowed_by_class(cls) if isinstance(cls, type) else None


def _allowed_by_any(parts: tuple[Any, ...]) -> tuple[type, ...] | None:
    found: list[type] = []
    for part in parts:
        classes = (NoneType,) if part is NoneType else allowed_classes(part)
        if classes is None:
            return None
        found += classes
    return tuple(found)


def _allowed_by_class(cls: type) -> tuple[type, ...] | None:
    if cls in _CONTAINERS:
        return (cls,)
    if getattr(cls, "_is_protocol", False) or cls is type:
        return None
    for base, wider in _WIDER.items():
        if issubclass(cls, base):
            return (cls, *wider)
    built_in = next((base for base in (str, int) if issubclass(cls, base) and cls is not bool), None)
    return (cls,) if built_in is None else (cls, built_in)


def return_check(annotation: Any) -> tuple[frozenset[type], Callable[[Any], str | None]] | None:
    """Classes that are valid at once, and a function that describes an invalid result (None if it is valid).

    None if every result is accepted.
    """
    allowed = allowed_classes(annotation)
    if allowed is None:
        return None
    exact = frozenset(allowed)

    def invalid(result: Any) -> str | None:
        return None if isinstance(result, allowed) else shortened(result)

    return exact, invalid


def name_of(annotation: Any) -> str:
    """The annotation as its author wrote it, without module names."""
    if isinstance(annotation, type) and typing.get_origin(annotation) is None:
        return annotation.__qualname__.rpartition(".")[2]
    return str(annotation).replace("typing.", "").replace("builtins.", "")


def shortened(result: Any) -> str:
    """Class and excerpt of a value, for messages."""
    if result is None:
        return "None"
    text = readable(repr(result))
    text = text if len(text) <= _EXCERPT_MAX else f"{text[:_EXCERPT_MAX]}…"
    return f"{result.__class__.__name__}: {text}"
