"""Reading a function's text, once."""

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
from holdfast.model.module_names import home_of


@dataclass(frozen=True, slots=True)
class Source:
    """A function as text and tree, with the module's names that it can see."""

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
            f"There is no source text of '{function.__qualname__}' (typed into a REPL, frozen, or made by exec).",
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
            f"The workflow uses {', '.join(code.co_freevars)} of the function around it, which nobody finds again later.",
            "Define it at module level and pass the value as an input.",
        )
    return Source(
        name=function.__name__,
        module=home_of(function.__module__),
        tree=tree,
        place=place,
        globals=function.__globals__,
        signature=inspect.signature(function),
        annotations=_annotations(function, place, tree),
        doc=inspect.getdoc(function),
    )


@lru_cache(256)
def _lines_of(function: Callable[..., Any]) -> tuple[list[str], int]:
    """Asked for when it is decorated, when it is compiled, and for each call by another workflow."""
    return inspect.getsourcelines(function)


def _annotations(function: Callable[..., Any], place: Place, tree: ast.AsyncFunctionDef) -> dict[str, Any]:
    """Resolved where they can be; a name that exists only for type checkers counts as anything."""
    found: dict[str, Any] = {}
    for name, text in inspect.get_annotations(function).items():
        if not isinstance(text, str):
            found[name] = text
            continue
        try:
            found[name] = eval(text, function.__globals__)  # noqa: S307 # the module's own annotation
        except Exception:  # noqa: BLE001 # an annotation is any code at all
            found[name] = Any
    return found
