"""Comprehensions with an await inside become loops with separate names."""

from __future__ import annotations

import ast
from typing import Any

from holdfast.authoring.compiler.blocks import located
from holdfast.authoring.compiler.names import COMPREHENSIONS
from holdfast.authoring.compiler.passes import Out
from holdfast.authoring.compiler.unit import Unit
from holdfast.authoring.compiler.walk import nodes_of

_EMPTY = {ast.ListComp: "[]", ast.SetComp: "set()", ast.DictComp: "{}"}


def lower_comprehension(unit: Unit, node: Any, out: Out) -> ast.expr:
    _refuse(unit, node)
    first = unit.expressions.lower(node.generators[0].iter, out)
    targets = {name.id for item in node.generators for name in nodes_of(item.target) if isinstance(name, ast.Name)}
    rename = _Rename({name: unit.temporary() for name in sorted(targets)})
    source, collected = unit.temporary(), unit.temporary()
    out.append(unit.assign(source, located(ast.Call(ast.Name("iter", ast.Load()), [first], []), first)))
    out.append(unit.assign(collected, located(_expression(_EMPTY[type(node)]), node)))
    body = _collect(unit, node, collected, rename)
    for number, item in reversed(list(enumerate(node.generators))):
        for test in reversed(item.ifs):
            body = [located(ast.If(rename.visit(test), body, []), test)]
        over = unit.load(source, item.iter) if number == 0 else rename.visit(item.iter)
        body = [located(ast.For(rename.visit(item.target), over, body, []), node)]
    walrus = unit.walrus
    out.extend(unit.statements.lower_body(body))
    unit.walrus = walrus
    return unit.load(collected, node)


def _collect(unit: Unit, node: Any, collected: str, rename: _Rename) -> list[ast.stmt]:
    held = unit.load(collected, node)
    if isinstance(node, ast.DictComp):
        key, value = unit.temporary(), unit.temporary()
        target = ast.Subscript(held, ast.Name(key, ast.Load()), ast.Store())
        return [
            unit.assign(key, rename.visit(node.key)),
            unit.assign(value, rename.visit(node.value)),
            located(ast.Assign([target], ast.Name(value, ast.Load())), node),
        ]
    method = "append" if isinstance(node, ast.ListComp) else "add"
    call = ast.Call(ast.Attribute(held, method, ast.Load()), [rename.visit(node.elt)], [])
    return [located(ast.Expr(call), node)]


def _expression(text: str) -> ast.expr:
    tree = ast.parse(text, mode="eval").body
    for node in nodes_of(tree):
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if hasattr(node, name):
                delattr(node, name)
    return tree


def _refuse(unit: Unit, node: ast.expr) -> None:
    for inner in nodes_of(node):
        if isinstance(inner, ast.Lambda):
            unit.refuse("comprehension-lambda", inner, "A lambda in a comprehension that awaits.", "Use a `for` loop.")
        if inner is not node and isinstance(inner, COMPREHENSIONS):
            unit.refuse(
                "comprehension-nested", inner, "A comprehension in a comprehension that awaits.", "Use a `for` loop."
            )


class _Rename(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        made: ast.AST = located(ast.Name(self.names.get(node.id, node.id), node.ctx), node)
        return made
