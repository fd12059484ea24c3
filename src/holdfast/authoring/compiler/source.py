"""Source text and syntax tree of a function."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from holdfast.authoring.compiler.refusals import Place
from holdfast.errors import WorkflowRefused
from holdfast.model.module_names import portable_name


@dataclass(frozen=True, slots=True)
class Source:
    """A function as text and tree, with the globals of its module."""

    name: str
    module: str
    tree: ast.AsyncFunctionDef
    place: Place
    globals: dict[str, Any]
    signature: inspect.Signature
    annotations: dict[str, Any]
    doc: str | None


def read_source(function: Callable[..., Any]) -> Source:
    code = function.__code__
    try:
        lines, first = _lines_of(function)
    except (OSError, TypeError) as error:
        raise WorkflowRefused(
            "no-source",
            f"The source text of '{function.__qualname__}' is not available (defined in a REPL, frozen, or created by exec).",
            "Put the workflow in a file.",
            file=code.co_filename,
            line=code.co_firstlineno,
        ) from error
    text = textwrap.dedent("".join(lines))
    tree = ast.parse(text).body[0]
    place = Place(code.co_filename, first, text.splitlines())
    if not isinstance(tree, ast.AsyncFunctionDef):
        place.refuse("not-async", tree, "A workflow is an `async def`.", f"Write `async def {function.__name__}(…)`.")
    if code.co_freevars:
        place.refuse(
            "free-variable",
            tree,
            f"The workflow uses {', '.join(code.co_freevars)} of the enclosing function, which cannot be imported later.",
            "Define it at module level and pass the value as an input.",
        )
    return Source(
        name=function.__name__,
        module=portable_name(function.__module__),
        tree=tree,
        place=place,
        globals=function.__globals__,
        signature=inspect.signature(function),
        annotations=_annotations(function, place, tree),
        doc=inspect.getdoc(function),
    )


@lru_cache(256)
def _lines_of(function: Callable[..., Any]) -> tuple[list[str], int]:
    """Cached: the text is needed at decoration, at compilation, and for each call by another workflow."""
    return inspect.getsourcelines(function)


def _annotations(function: Callable[..., Any], place: Place, tree: ast.AsyncFunctionDef) -> dict[str, Any]:
    """Annotations, resolved if possible. A name that exists only for type checkers counts as Any."""
    found: dict[str, Any] = {}
    for name, text in inspect.get_annotations(function).items():
        if not isinstance(text, str):
            found[name] = text
            continue
        try:
            found[name] = eval(text, function.__globals__)  # noqa: S307 # the module's own annotation
        except Exception:  # noqa: BLE001 # an annotation may be any code
            found[name] = Any
    return found
