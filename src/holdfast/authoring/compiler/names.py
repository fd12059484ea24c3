"""Names of a function: the locals it binds, and the meaning of all others in its module."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Iterator
from enum import Enum
from inspect import getattr_static
from typing import Any

from holdfast.authoring.compiler.source import Source
from holdfast.authoring.compiler.walk import children_of, nodes_of
from holdfast.errors import ValueRefused
from holdfast.model.module_names import loaded_module, portable_name, stored_name
from holdfast.model.values import SCALARS, encode

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

MISSING = object()


def is_temporary(name: str) -> bool:
    return name[:2] == "__" and name[2:].isdigit()


def local_names(tree: ast.AsyncFunctionDef) -> list[str]:
    """Names bound in the function's own scope, in order of appearance. Cached on the tree."""
    known: list[str] | None = getattr(tree, "_locals", None)
    if known is not None:
        return known
    found: dict[str, None] = {}
    arguments = tree.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        found[argument.arg] = None
    for statement in tree.body:
        found.update(dict.fromkeys(_bound(statement)))
    tree._locals = list(found)  # type: ignore[attr-defined]  # nodes are ordinary objects
    return list(found)


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, FUNCTIONS):
        if not isinstance(node, ast.Lambda):
            yield node.name
        return
    if isinstance(node, COMPREHENSIONS):
        for inner in nodes_of(node):
            if isinstance(inner, ast.NamedExpr) and isinstance(inner.target, ast.Name):
                yield inner.target.id
        return
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield (alias.asname or alias.name).split(".")[0]
    for child in children_of(node):
        yield from _bound(child)


class ModuleNames:
    """Globals and built-ins that the function can use."""

    def __init__(self, source: Source, local: list[str]) -> None:
        self.source = source
        self.local = frozenset(local)

    def value(self, name: str) -> Any:
        """Current value of a name that is not local; `MISSING` if it is not defined (yet)."""
        if name in self.local or is_temporary(name):
            return MISSING
        return self.source.globals.get(name, getattr(builtins, name, MISSING))

    def resolve(self, expression: ast.expr) -> Any:
        """Resolve a dotted name: attributes of modules, and classes inside classes."""
        if isinstance(expression, ast.Name):
            return self.value(expression.id)
        base = self.resolve(expression.value) if isinstance(expression, ast.Attribute) else MISSING
        if not isinstance(expression, ast.Attribute) or base is MISSING:
            return MISSING
        if isinstance(base, types.ModuleType):
            return getattr(base, expression.attr, MISSING)
        # Do not run descriptors. Other attributes of a class are resolved at run time.
        inner = getattr_static(base, expression.attr, MISSING) if isinstance(base, type) else MISSING
        return inner if isinstance(inner, type) else MISSING

    def use(self, name: str) -> dict[str, Any] | None:
        """How a definition refers to a name: constants by value, others by public name; None if it is missing."""
        value = self.value(name)
        if value is MISSING:
            return None
        if value.__class__ in SCALARS or (value.__class__ in (tuple, frozenset) and _is_constant(value)):
            return {"value": encode(value)}
        return {"of": self._reference(name, value)}

    def _reference(self, name: str, value: Any) -> str:
        if isinstance(value, types.ModuleType):
            return stored_name(value.__name__)
        own = (
            f"{portable_name(getattr(value, '__module__', None) or 'builtins')}:{getattr(value, '__qualname__', name)}"
        )
        if not isinstance(value, Enum) and _find(own) is value:
            return own
        if name not in self.source.globals:
            return f"builtins:{name}"
        return f"{self.source.module}:{name}"


def _is_constant(value: Any) -> bool:
    try:
        encode(value)
    except ValueRefused:
        return False
    return all(item.__class__ in SCALARS or (item.__class__ is tuple and _is_constant(item)) for item in value)


def _find(reference: str) -> Any:
    module, _, path = reference.partition(":")
    found: Any = loaded_module(module) or MISSING
    for part in path.split("."):
        found = getattr(found, part, MISSING)
    return found
