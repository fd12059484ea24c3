"""Types of names, from the annotations of parameters, results and locals."""

from __future__ import annotations

import ast
import io
import types
import typing
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

from holdfast.authoring.compiler.source import Source
from holdfast.authoring.compiler.walk import nodes_of
from holdfast.model.types import describe
from holdfast.model.values.registry import is_registrable

_NEVER_STORED = (io.IOBase, types.FunctionType, types.ModuleType, types.GeneratorType, AsyncIterator, Generator)


def type_names(source: Source) -> dict[str, str]:
    """Public type names of annotated names. A type that a definition cannot express counts as any."""
    found = {name: _name(annotation) for name, annotation in source.annotations.items()}
    for node in nodes_of(source.tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.setdefault(node.target.id, _name(_value(source, node.annotation)))
    return found


def _name(annotation: Any) -> str:
    if annotation is None or annotation is type(None):
        return "any"
    try:
        return describe(annotation)[0]
    except Exception:  # noqa: BLE001 # an annotation may be any object
        return "any"


def _value(source: Source, annotation: ast.expr) -> Any:
    try:
        return eval(  # noqa: S307 # the module's own annotation
            compile(ast.Expression(annotation), source.place.file, "eval"), dict(source.globals)
        )
    except Exception:  # noqa: BLE001 # a name that exists only for type checkers
        return Any


def classes_in(annotation: Any) -> list[type]:
    """Data classes that an annotation names."""
    found = [annotation] if is_registrable(annotation) else []
    for argument in typing.get_args(annotation):
        found.extend(classes_in(argument))
    return found


def check_annotations(source: Source) -> None:
    """Refuse types of inputs and results that can never be stored."""
    arguments = [*source.tree.args.args, *source.tree.args.kwonlyargs]
    places: dict[str, ast.AST] = {item.arg: item for item in arguments}
    places["return"] = source.tree.returns or source.tree
    for name, annotation in source.annotations.items():
        if _is_never_stored(annotation):
            source.place.refuse(
                "annotation",
                places.get(name, source.tree),
                f"A value of type {getattr(annotation, '__name__', annotation)} cannot be stored.",
                "Pass data (an id, a path, a dataclass) and open it inside an activity.",
            )


def _is_never_stored(annotation: Any) -> bool:
    origin = typing.get_origin(annotation) or annotation
    return origin is Callable or (isinstance(origin, type) and issubclass(origin, _NEVER_STORED))
