"""Lowering of expressions: moves awaits out of them, in Python's evaluation order.

Of subexpressions that Python evaluates left to right, everything left of the last await is stored in a temporary first,
unless later evaluation gives the same result.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Sequence
from typing import Any

from holdfast.authoring.compiler.blocks import has_await, located
from holdfast.authoring.compiler.comprehensions import lower_comprehension
from holdfast.authoring.compiler.names import is_temporary
from holdfast.authoring.compiler.passes import Out
from holdfast.authoring.compiler.unit import Condition, Unit

_BY_REFERENCE = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType)


class Expressions:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.lowerings: dict[type, Callable[[Any, Out], ast.expr]] = {
            ast.Await: self._await,
            ast.BinOp: self._binary,
            ast.UnaryOp: lambda node, out: ast.UnaryOp(node.op, self.lower(node.operand, out)),
            ast.BoolOp: self._boolean,
            ast.IfExp: self._conditional,
            ast.Compare: self._compare,
            ast.Call: self._call,
            ast.Attribute: lambda node, out: ast.Attribute(self.lower(node.value, out), node.attr, node.ctx),
            ast.Subscript: self._subscript,
            ast.Slice: lambda node, out: ast.Slice(*self.lower_all([node.lower, node.upper, node.step], out)),
            ast.List: lambda node, out: ast.List(self.lower_all(node.elts, out), node.ctx),
            ast.Tuple: lambda node, out: ast.Tuple(self.lower_all(node.elts, out), node.ctx),
            ast.Set: lambda node, out: ast.Set(self.lower_all(node.elts, out)),
            ast.Dict: self._dict,
            ast.Starred: lambda node, out: ast.Starred(self.lower(node.value, out), node.ctx),
            ast.NamedExpr: self._walrus,
            ast.JoinedStr: lambda node, out: ast.JoinedStr(self.lower_all(node.values, out)),
            ast.FormattedValue: self._formatted,
            ast.ListComp: lambda node, out: lower_comprehension(unit, node, out),
            ast.SetComp: lambda node, out: lower_comprehension(unit, node, out),
            ast.DictComp: lambda node, out: lower_comprehension(unit, node, out),
        }

    def lower(self, node: Any, out: Out) -> Any:
        """The expression without awaits. Statements that must run before it are appended to `out`."""
        if not has_await(node):
            return node
        lowering = self.lowerings.get(type(node))
        if lowering is None:
            self.unit.refuse(
                "await-here",
                node,
                f"`await` inside a {type(node).__name__} is not compiled.",
                "Put the awaited value in a name first.",
            )
        return located(lowering(node, out), node)

    def lower_all(self, nodes: Sequence[Any], out: Out) -> list[Any]:
        last = max((number for number, node in enumerate(nodes) if has_await(node)), default=-1)
        lowered = []
        for number, node in enumerate(nodes):
            clean = self.lower(node, out) if node is not None else None
            lowered.append(self.spill(clean, out) if number < last and clean is not None else clean)
        return lowered

    # -- temporaries ---------------------------------------------------------------------------------------------------

    def is_stable(self, node: ast.AST) -> bool:
        """Whether later evaluation gives the same result."""
        unit = self.unit
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            if is_temporary(node.id):
                return True
            if node.id in unit.module_names.local:
                return node.id in unit.assigned and node.id not in unit.walrus
            return isinstance(unit.module_names.value(node.id), _BY_REFERENCE) or callable(
                unit.module_names.value(node.id)
            )
        if isinstance(node, ast.Attribute):
            return isinstance(unit.module_names.resolve(node.value), types.ModuleType)
        return False

    def spill(self, node: Any, out: Out) -> Any:
        if self.is_stable(node):
            return node
        unit = self.unit
        if any(isinstance(item, ast.Lambda | ast.GeneratorExp) for item in _top(node)):
            unit.refuse(
                "lambda-before-await",
                node,
                "A function object would have to be stored across the following await.",
                "Put the awaited value in a name first.",
            )
        if isinstance(node, ast.Slice):
            parts = [
                self.spill(part, out) if part is not None else None for part in (node.lower, node.upper, node.step)
            ]
            return located(ast.Slice(*parts), node)
        name = unit.temporary()
        if isinstance(node, ast.Starred):
            out.append(unit.assign(name, located(ast.List([node], ast.Load()), node)))
            return located(ast.Starred(unit.load(name, node), ast.Load()), node)
        if isinstance(node, ast.FormattedValue):
            out.append(unit.assign(name, located(ast.JoinedStr([node]), node)))
            return located(ast.FormattedValue(unit.load(name, node), -1, None), node)
        out.append(unit.assign(name, node))
        return unit.load(name, node)

    # -- one method per node type --------------------------------------------------------------------------------------

    def _await(self, node: ast.Await, out: Out) -> ast.expr:
        return self.unit.calls.lower(node, out)

    def _binary(self, node: ast.BinOp, out: Out) -> ast.expr:
        left, right = self.lower_all([node.left, node.right], out)
        return ast.BinOp(left, node.op, right)

    def _subscript(self, node: ast.Subscript, out: Out) -> ast.expr:
        value, index = self.lower_all([node.value, node.slice], out)
        return ast.Subscript(value, index, node.ctx)

    def _formatted(self, node: ast.FormattedValue, out: Out) -> ast.expr:
        value, form = self.lower_all([node.value, node.format_spec], out)
        return ast.FormattedValue(value, node.conversion, form)

    def _boolean(self, node: ast.BoolOp, out: Out) -> ast.expr:
        unit, name = self.unit, self.unit.temporary()
        out.append(unit.assign(name, self.lower(node.values[0], out)))
        here = out
        for value in node.values[1:]:
            inner: Out = []
            with unit.branch():
                inner.append(unit.assign(name, self.lower(value, inner)))
            test = unit.load(name, value)
            if isinstance(node.op, ast.Or):
                test = located(ast.UnaryOp(ast.Not(), test), value)
            here.append(Condition(test, inner, [], value))
            here = inner
        return unit.load(name, node)

    def _conditional(self, node: ast.IfExp, out: Out) -> ast.expr:
        unit, name = self.unit, self.unit.temporary()
        test = self.lower(node.test, out)
        ways: list[Out] = []
        for value in (node.body, node.orelse):
            inner: Out = []
            with unit.branch():
                inner.append(unit.assign(name, self.lower(value, inner)))
            ways.append(inner)
        out.append(Condition(test, ways[0], ways[1], node))
        return unit.load(name, node)

    def _compare(self, node: ast.Compare, out: Out) -> ast.expr:
        unit = self.unit
        if len(node.ops) == 1:
            left, right = self.lower_all([node.left, node.comparators[0]], out)
            return ast.Compare(left, node.ops, [right])
        name, here, left = unit.temporary(), out, node.left
        for number, (operator, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
            left, right = self.lower_all([left, comparator], here)
            is_last = number == len(node.ops) - 1
            if not is_last:
                if not isinstance(right, ast.Constant):
                    left = self.spill(left, here)
                kept = unit.temporary()
                here.append(unit.assign(kept, right))
                right = unit.load(kept, comparator)
            here.append(unit.assign(name, located(ast.Compare(left, [operator], [right]), node)))
            if not is_last:
                inner: Out = []
                here.append(Condition(unit.load(name, node), inner, [], node))
                here, left = inner, right
        return unit.load(name, node)

    def _call(self, node: ast.Call, out: Out) -> ast.expr:
        parts = [node.func, *node.args, *[item.value for item in node.keywords]]
        last = max(number for number, part in enumerate(parts) if has_await(part))
        first = 1 + len(node.args)
        if any(item.arg is None and first + number < last for number, item in enumerate(node.keywords)):
            self.unit.refuse(
                "unpacking-before-await",
                node,
                "`**mapping` before an `await` in the same call would be unpacked before the await.",
                "Put the awaited value in a name first.",
            )
        function, *rest = self.lower_all(parts, out)
        arguments, values = rest[: len(node.args)], rest[len(node.args) :]
        keywords = [ast.keyword(item.arg, value) for item, value in zip(node.keywords, values, strict=True)]
        return ast.Call(function, arguments, keywords)

    def _dict(self, node: ast.Dict, out: Out) -> ast.expr:
        flat: list[Any] = []
        for key, value in zip(node.keys, node.values, strict=True):
            # `**mapping` is copied in place, as a separate dict.
            whole = located(ast.Dict([None], [value]), value) if key is None and not has_await(value) else value
            flat += [key, whole]
        lowered = self.lower_all(flat, out)
        return ast.Dict(lowered[0::2], lowered[1::2])

    def _walrus(self, node: ast.NamedExpr, out: Out) -> ast.expr:
        assert isinstance(node.target, ast.Name)
        out.append(self.unit.assign(node.target.id, self.lower(node.value, out)))
        return self.unit.load(node.target.id, node)


def _top(node: ast.AST) -> list[ast.AST]:
    """The value itself and the items of a list, tuple or set display: places where a function object would be stored."""
    found: list[ast.AST] = [node]
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        found.extend(item for part in node.elts for item in _top(part))
    elif isinstance(node, ast.Starred):
        found.extend(_top(node.value))
    return found
