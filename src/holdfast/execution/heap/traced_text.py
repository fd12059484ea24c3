"""Traced texts: the statements of a compiled function, changed to report which items of large blocks they use.

Uses that touch one item are reported as such: `x[k]`, `x[k] = v`, `x.append(v)`, `x.get(k)`, `x.pop()`, `del x[k]`. In
`x.append(await f())` the method is a value before it is called: `m = x.append`, then `m(v)`.
Uses that touch nothing stay as they are: `len(x)`, `k in x`, `x is None`, `not x`. All other uses of a name touch the
whole block. Only texts that mention a block run in this form.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from copy import deepcopy

BOOK = "__book"
"""Name of the book's argument in a traced function."""

APPEND = "append"
_BY_KEY = frozenset({"get", "setdefault"})
_READS = frozenset({"len", "bool", "isinstance", "id", "type"})


def traced(body: list[ast.stmt], names: Collection[str], hidden: Collection[str]) -> list[ast.stmt]:
    """A copy of the statements that reports its uses of these names. `hidden` are names that hide built-in functions."""
    transformer = _Tracer(names, hidden)
    found: list[ast.stmt] = []
    for statement in deepcopy(body):
        made = transformer.visit(statement)
        found += made if isinstance(made, list) else [made]
    return found


class _Tracer(ast.NodeTransformer):
    def __init__(self, names: Collection[str], hidden: Collection[str]) -> None:
        self.names = names
        self.hidden = hidden

    def _is_name(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self.names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and node.id in self.names:
            return _report("whole", node, node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if not self._is_name(node.value):
            return self.generic_visit(node)
        removes = isinstance(node.ctx, ast.Del)
        key = self.visit(node.slice)
        if isinstance(node.slice, ast.Slice):
            node.slice, node.value = key, _report("whole", node.value, node)
        else:
            node.slice = _report("removed" if removes else "key", node.value, node, key)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func
        if isinstance(called, ast.Name) and called.id in _READS and called.id not in self.hidden and not node.keywords:
            node.args = [item if self._is_name(item) else self.visit(item) for item in node.args]
            return node
        if isinstance(called, ast.Attribute) and self._is_name(called.value) and not node.keywords:
            made = self._method(node, called)
            if made is not None:
                return made
        if self._is_name(called):
            node.func = _report("call", called, node)
            node.args = [self.visit(item) for item in node.args]
            node.keywords = [self.visit(item) for item in node.keywords]
            return node
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        is_append = isinstance(node.ctx, ast.Load) and node.attr == APPEND
        return node if is_append and self._is_name(node.value) else self.generic_visit(node)

    def _method(self, node: ast.Call, called: ast.Attribute) -> ast.AST | None:
        if any(isinstance(item, ast.Starred) for item in node.args):
            return None
        name, owner, count = called.attr, called.value, len(node.args)
        if name == APPEND and count == 1:
            called.value = _report("tail", owner, node)
        elif name == "pop" and count == 0:
            called.value = _report("last", owner, node)
        elif (name in _BY_KEY or name == "pop") and count in (1, 2):
            key, *rest = node.args
            report = "removed" if name == "pop" else "key"
            node.args = [_report(report, owner, node, self.visit(key)), *map(self.visit, rest)]
            return node
        else:
            return None
        node.args = [self.visit(item) for item in node.args]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`x is None` and `k in x` change nothing."""
        is_read = all(isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) for op in node.ops)
        if not is_read:
            return self.generic_visit(node)
        first_may_stay = isinstance(node.ops[0], ast.Is | ast.IsNot)
        if not (first_may_stay and self._is_name(node.left)):
            node.left = self.visit(node.left)
        node.comparators = [item if self._is_name(item) else self.visit(item) for item in node.comparators]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        return node if isinstance(node.op, ast.Not) and self._is_name(node.operand) else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._test(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._test(node)

    def _test(self, node: ast.If | ast.While) -> ast.AST:
        test = node.test
        if not self._is_name(test):
            return self.generic_visit(node)
        self.generic_visit(node)
        node.test = test
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        """`x += …` extends a list in place; other operators may change anything."""
        self.generic_visit(node)
        if not self._is_name(node.target):
            return node
        assert isinstance(node.target, ast.Name)
        used = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        report = "tail" if isinstance(node.op, ast.Add) else "whole"
        return [ast.copy_location(ast.Expr(_report(report, used, node)), node), node]


def _report(kind: str, value: ast.expr, at: ast.AST, *arguments: ast.expr) -> ast.expr:
    call = ast.Call(ast.Attribute(ast.Name(BOOK, ast.Load()), kind, ast.Load()), [deepcopy(value), *arguments], [])
    for node in ast.walk(call.func):
        ast.copy_location(node, at)
    for node in ast.walk(call.args[0]):
        ast.copy_location(node, at)
    return ast.copy_location(call, at)
