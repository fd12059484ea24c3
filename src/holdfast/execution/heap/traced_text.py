"""Traced texts: the statements of a compiled function, changed to report which items of large blocks they use.

Uses that touch one item are reported as such: `x[k]`, `x[k] = v`, `x.append(v)`, `x.get(k)`, `x.pop()`, `del x[k]`. In
`x.append(await f())` the method is a value before it is called: `m = x.append`, then `m(v)`.
Uses that touch nothing stay as they are: `len(x)`, `k in x`, `x is None`, `not x`. All other uses of a name touch the
whole block. Only texts that mention a block, or a value that contains one, run in this form.

The same holds for a *path*, which leads from a name to a block by keys and fields: `state["orders"].append(v)`,
`desk.orders[k] = v`. Each part of it is evaluated once.
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

    def _is_path(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute) or (isinstance(node, ast.Subscript) and not _is_slice(node.slice)):
            return self._is_path(node.value)
        return self._is_name(node)

    def _steps(self, node: ast.expr) -> ast.expr:
        """A path that reports its steps, but not the use of its value."""
        if isinstance(node, ast.Attribute):
            name = ast.copy_location(ast.Constant(node.attr), node)
            node.value = _report("owner", self._steps(node.value), node, name)
        elif isinstance(node, ast.Subscript):
            removes = isinstance(node.ctx, ast.Del)
            key = self.visit(node.slice)
            if self._is_name(node.value):
                node.slice = _report("removed" if removes else "key", node.value, node, key)
            else:
                node.value = _report("container", self._steps(node.value), node)
                node.slice = _report("removed_key" if removes else "inner_key", key, node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and node.id in self.names:
            return _report("whole", node, node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if not self._is_path(node):
            return self.generic_visit(node)
        found = self._steps(node)
        return _report("whole", found, node) if isinstance(node.ctx, ast.Load) else found

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func
        if isinstance(called, ast.Name) and called.id in _READS and called.id not in self.hidden and not node.keywords:
            node.args = [self._steps(item) if self._is_path(item) else self.visit(item) for item in node.args]
            return node
        if isinstance(called, ast.Attribute) and self._is_path(called.value) and not node.keywords:
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
        if isinstance(node.ctx, ast.Del) or not self._is_path(node):
            return self.generic_visit(node)
        found = self._steps(node)
        return _report("whole", found, node) if isinstance(node.ctx, ast.Load) else found

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`y = x`: another name for a block touches nothing."""
        if not (self._is_path(node.value) and all(map(self._is_name, node.targets))):
            return self.generic_visit(node)
        is_append = isinstance(node.value, ast.Attribute) and node.value.attr == APPEND
        node.value = _report("method" if is_append else "alias", self._steps(node.value), node)
        return node

    def _method(self, node: ast.Call, called: ast.Attribute) -> ast.AST | None:
        if any(isinstance(item, ast.Starred) for item in node.args):
            return None
        name, owner, count = called.attr, called.value, len(node.args)
        if name == APPEND and count == 1:
            called.value = _report("tail", self._steps(owner), node)
            node.args = [self.visit(item) for item in node.args]
            return node
        if name == "pop" and count == 0:
            called.value = _report("last", self._steps(owner), node)
        elif (name in _BY_KEY or name == "pop") and count in (1, 2):
            key, *rest = node.args
            called.value = _report("container", self._steps(owner), node)
            report = "removed_key" if name == "pop" else "inner_key"
            node.args = [_report(report, self.visit(key), node), *map(self.visit, rest)]
        else:
            return None
        return _report("whole", node, node)  # the item of a small dict may be a block

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`x is None` and `k in x` change nothing."""
        is_read = all(isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) for op in node.ops)
        if not is_read:
            return self.generic_visit(node)
        first_may_stay = isinstance(node.ops[0], ast.Is | ast.IsNot)
        is_first = first_may_stay and self._is_path(node.left)
        node.left = self._steps(node.left) if is_first else self.visit(node.left)
        node.comparators = [self._steps(item) if self._is_path(item) else self.visit(item) for item in node.comparators]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if not (isinstance(node.op, ast.Not) and self._is_path(node.operand)):
            return self.generic_visit(node)
        node.operand = self._steps(node.operand)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._test(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._test(node)

    def _test(self, node: ast.If | ast.While) -> ast.AST:
        test = node.test
        if not self._is_path(test):
            return self.generic_visit(node)
        node.test = ast.copy_location(ast.Constant(None), test)
        self.generic_visit(node)
        node.test = self._steps(test)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        """`x += …` extends a list in place; other operators may change anything."""
        report = self._extension(node)
        self.generic_visit(node)
        return node if report is None else [ast.copy_location(ast.Expr(report), node), node]

    def _extension(self, node: ast.AugAssign) -> ast.expr | None:
        """Report of the value that the statement may change in place, before it is evaluated."""
        target, adds = node.target, isinstance(node.op, ast.Add)
        if isinstance(target, ast.Name):
            used = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            return _report("tail" if adds else "whole", used, node) if self._is_name(used) else None
        if not self._is_path(target):
            return None
        steps: list[ast.expr] = []
        first: ast.expr = target
        while isinstance(first, ast.Attribute | ast.Subscript):
            is_field = isinstance(first, ast.Attribute)
            key = ast.Constant(first.attr) if isinstance(first, ast.Attribute) else deepcopy(first.slice)
            adds = adds and isinstance(key, ast.Constant | ast.Name)
            steps.insert(0, ast.Tuple([ast.Constant(is_field), key], ast.Load()))
            first = first.value
        if not adds:
            return _report("changed_inside", first, node)
        for part in [inner for step in steps for inner in ast.walk(step) if isinstance(inner, ast.expr)]:
            ast.copy_location(part, node)
        return _report("extends", first, node, *steps)


def _is_slice(node: ast.expr) -> bool:
    """Whether a subscript gives a part of a list: `x[1:2]`. A slice in a tuple is a key."""
    return isinstance(node, ast.Slice)


def _report(kind: str, value: ast.expr, at: ast.AST, *arguments: ast.expr) -> ast.expr:
    call = ast.Call(ast.Attribute(ast.Name(BOOK, ast.Load()), kind, ast.Load()), [deepcopy(value), *arguments], [])
    for node in ast.walk(call.func):
        ast.copy_location(node, at)
    for node in ast.walk(call.args[0]):
        ast.copy_location(node, at)
    return ast.copy_location(call, at)
