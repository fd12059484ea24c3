"""Definite assignment analysis, conservative: the locals that certainly have a value after a statement."""

from __future__ import annotations

import ast

from holdfast.authoring.compiler.unit import Unit
from holdfast.authoring.compiler.walk import nodes_of

_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Assert)


def targets_of(target: ast.AST) -> set[str]:
    return {node.id for node in nodes_of(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def deleted_in(node: ast.AST) -> set[str]:
    """Names that are deleted somewhere inside. Cached on the node, because every enclosing statement needs it."""
    known: set[str] | None = getattr(node, "_deleted", None)
    if known is not None:
        return known
    found: set[str] = set()
    for inner in nodes_of(node):
        if isinstance(inner, ast.Delete):
            found |= {name.id for target in inner.targets for name in nodes_of(target) if isinstance(name, ast.Name)}
        elif isinstance(inner, ast.ExceptHandler) and inner.name:
            found.add(inner.name)
    node._deleted = found  # type: ignore[attr-defined]  # nodes are ordinary objects
    return found


def note_assignments(unit: Unit, node: ast.stmt) -> None:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            unit.assigned |= targets_of(target)
    elif isinstance(node, ast.AnnAssign | ast.AugAssign) and node.value is not None:
        unit.assigned |= targets_of(node.target)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        unit.assigned |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    unit.assigned -= deleted_in(node)


def walrus_in(node: ast.stmt) -> set[str]:
    """Names that the statement's own expressions rebind with `:=`, without those of its body."""
    parts: list[ast.AST | None] = [node]
    if not isinstance(node, _SIMPLE):
        parts = [getattr(node, name, None) for name in ("test", "iter", "subject")]
    return {
        inner.target.id
        for part in parts
        if part is not None
        for inner in nodes_of(part)
        if isinstance(inner, ast.NamedExpr) and isinstance(inner.target, ast.Name)
    }
