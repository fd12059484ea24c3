"""Allow-list over the syntax tree: each permitted node becomes guarded code.

A node type without a method here does not exist in the language. Names become positions in the scope. Operators without
a size limit, attributes, items, calls and iteration become calls of guards. Local names of the user get the prefix
`v_`, so that they cannot collide with generated names.

Two rules keep simple expressions fast. Where a node runs at most once (outside comprehensions, lambdas and scripts),
comparisons of constants and stored values stay native, because their size limits the cost. `+`, `-` and `*` with a
plain operand test for a number inline and call the guard only for other types.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.errors import ExpressionRefused
from holdfast.expressions.budget import MAX_INT_BITS
from holdfast.expressions.failure import quoted
from holdfast.expressions.python.names import NameUnknown, Places, suggestion

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "g_add",
    ast.Sub: "g_subtract",
    ast.Mult: "g_multiply",
    ast.Div: "g_divide",
    ast.FloorDiv: "g_floor_divide",
    ast.Mod: "g_modulo",
    ast.Pow: "g_power",
    ast.LShift: "g_shift_left",
    ast.RShift: "g_shift_right",
    ast.BitOr: "g_or",
    ast.BitAnd: "g_and",
    ast.BitXor: "g_xor",
}
_INLINE_DEPTH = 8
_PLAIN_NUMBER = 1 << 64
BUDGET = ast.Name("B", ast.Load())


class ColdBudget(ast.Name):
    """Use of the budget that is needed only for operands that are not numbers. `evaluator` can then avoid creating it."""


def guard(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def local(name: str, context: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(f"v_{name}", context or ast.Load())


def weight_of(*nodes: ast.AST) -> int:
    """Cost of one pass through these nodes."""
    return sum(isinstance(part, ast.expr | ast.stmt) for node in nodes for part in ast.walk(node))


class Rewriter:
    """Rewriter for expressions. `calls` adds calls and roots (`inputs.x`), `statements` adds statements."""

    def __init__(self, source: str, places: Places, *, script: bool = False) -> None:
        self.source = source
        self.places = places
        self.script = script
        self.repeated = script
        """The current node may run more than once."""
        self.shares = script
        """Some value may contain another value twice, so the result must be weighed."""
        self.locals: list[set[str]] = []
        self._depth = 0
        self._temporaries = 0

    # -- dispatch ------------------------------------------------------------------------------------------------------

    def expr(self, node: ast.expr) -> ast.expr:
        method = getattr(self, f"on_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.refused(f"{_display_name(node)} is not allowed in an expression", node)
        self._depth += 1
        try:
            made: ast.expr = method(node)
        except NameUnknown as unknown:
            raise self.refused(str(unknown), node) from None
        finally:
            self._depth -= 1
        return ast.copy_location(made, node)

    def refused(self, why: str, node: ast.AST) -> ExpressionRefused:
        line = getattr(node, "lineno", 1)
        where = f"line {line} of " if line > 1 else ""
        return ExpressionRefused(
            f"{where}{quoted(self.source)} is not allowed: {why}.", language="python", source=self.source
        )

    def is_local(self, name: str) -> bool:
        return any(name in names for names in self.locals)

    @contextmanager
    def inside_loop(self, names: set[str]) -> Iterator[None]:
        """Rewrite nodes that run many times, with these local names."""
        before, self.repeated, self.shares = self.repeated, True, True
        self.locals.append(names)
        try:
            yield
        finally:
            self.locals.pop()
            self.repeated = before

    # -- values and names ----------------------------------------------------------------------------------------------

    def on_constant(self, node: ast.Constant) -> ast.expr:
        value = node.value
        if not (value is None or isinstance(value, str | bytes | bool | int | float)):
            raise self.refused(f"{value!r} is not allowed in an expression", node)
        if isinstance(value, int) and value.bit_length() > MAX_INT_BITS:
            raise self.refused("a number is too long", node)
        return ast.Constant(value)

    def on_name(self, node: ast.Name) -> ast.expr:
        if self.is_local(node.id):
            return local(node.id)
        found = self.places.variable(node.id)
        if found is not None:
            return found
        if node.id == "last_result":
            return self.places.last_result()
        known = self.places.names.visible() + sorted(set().union(*self.locals))
        raise NameUnknown(f"the name '{node.id}' is not defined" + suggestion(node.id, known, "names"))

    def on_joinedstr(self, node: ast.JoinedStr) -> ast.expr:
        return guard("g_joined", BUDGET, *(self.expr(part) for part in node.values))

    def on_formattedvalue(self, node: ast.FormattedValue) -> ast.expr:
        spec = self.expr(node.format_spec) if node.format_spec is not None else ast.Constant("")
        return guard("g_formatted", BUDGET, self.expr(node.value), ast.Constant(node.conversion), spec)

    # -- operators -----------------------------------------------------------------------------------------------------

    def on_binop(self, node: ast.BinOp) -> ast.expr:
        left, right = self.expr(node.left), self.expr(node.right)
        if not self.repeated and self._depth <= _INLINE_DEPTH:
            if isinstance(node.op, ast.Add | ast.Sub) and _is_plain(right):
                return self._inline(node.op, left, right)
            if isinstance(node.op, ast.Mult) and _is_number(right) and not isinstance(left, ast.Constant):
                return self._inline(node.op, left, right)
            if isinstance(node.op, ast.Mult) and _is_number(left) and not isinstance(right, ast.Constant):
                return self._inline(node.op, right, left)
            if isinstance(node.op, ast.Mod | ast.FloorDiv) and _is_number(right):
                return self._inline(node.op, left, right)
        name = _OPERATORS.get(type(node.op))
        if name is None:
            raise self.refused(f"the operator {type(node.op).__name__} does not exist here", node)
        return self.made(guard(name, BUDGET, left, right))

    def _inline(self, operator: ast.operator, tested: ast.expr, plain: ast.expr) -> ast.expr:
        """`t + plain if (t := tested).__class__ is int or t.__class__ is float else g_add(B, t, plain)`."""
        self._temporaries += 1
        name = f"t{self._temporaries}"
        value = ast.Name(name, ast.Load())
        first = ast.NamedExpr(ast.Name(name, ast.Store()), tested)
        test = ast.BoolOp(ast.Or(), [_is_exactly(first, "int"), _is_exactly(value, "float")])
        otherwise = guard(_OPERATORS[type(operator)], ColdBudget("B", ast.Load()), value, plain)
        return ast.IfExp(test, ast.BinOp(value, operator, plain), otherwise)

    def on_unaryop(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.expr(node.operand)
        return guard("g_invert", operand) if isinstance(node.op, ast.Invert) else ast.UnaryOp(node.op, operand)

    def on_boolop(self, node: ast.BoolOp) -> ast.expr:
        return ast.BoolOp(node.op, [self.expr(value) for value in node.values])

    def on_ifexp(self, node: ast.IfExp) -> ast.expr:
        return ast.IfExp(self.expr(node.test), self.expr(node.body), self.expr(node.orelse))

    def on_compare(self, node: ast.Compare) -> ast.expr:
        made = [self.expr(operand) for operand in (node.left, *node.comparators)]
        if any(isinstance(operator, ast.In | ast.NotIn) for operator in node.ops):
            if len(node.ops) > 1:
                raise self.refused("'in' cannot be part of a chain of comparisons; join conditions with 'and'", node)
            found = guard("g_contains", BUDGET, *made)
            return ast.UnaryOp(ast.Not(), found) if isinstance(node.ops[0], ast.NotIn) else found
        if self.repeated or not _compares_cheaply(node):
            made = [value if _is_number(value) else guard("g_compared", BUDGET, value) for value in made]
        return ast.Compare(made[0], node.ops, made[1:])

    # -- access to values ----------------------------------------------------------------------------------------------

    def on_subscript(self, node: ast.Subscript) -> ast.expr:
        root = self.root_member(node)
        if root is not None:
            return root
        value = self.expr(node.value)
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            made = (ast.Constant(None) if bound is None else self.expr(bound) for bound in bounds)
            return self.made(guard("g_part", BUDGET, value, *made))
        return guard("g_item", BUDGET, value, self.expr(node.slice))

    def on_attribute(self, node: ast.Attribute) -> ast.expr:
        root = self.root_member(node)
        if root is not None:
            return root
        self.check_member(node)
        return guard("g_field", self.expr(node.value), ast.Constant(node.attr))

    def check_member(self, node: ast.Attribute) -> None:
        if node.attr.startswith("_"):
            raise self.refused(f"'{node.attr}' is private; names that begin with _ cannot be used", node)

    def root_member(self, node: ast.expr) -> ast.expr | None:
        """Code for `inputs.x`, `outputs.a.b`, `math.pi` and similar; None for other nodes. See `calls`."""
        raise NotImplementedError

    # -- collections ---------------------------------------------------------------------------------------------------

    def on_list(self, node: ast.List) -> ast.expr:
        return self.made(ast.List([self._element(item, "g_spread") for item in node.elts], ast.Load()))

    def on_tuple(self, node: ast.Tuple) -> ast.expr:
        return ast.Tuple([self._element(item, "g_spread") for item in node.elts], ast.Load())

    def on_set(self, node: ast.Set) -> ast.expr:
        return self.made(ast.Set([self._key(self._element(item, "g_spread_keys")) for item in node.elts]))

    def on_dict(self, node: ast.Dict) -> ast.expr:
        keys = [None if key is None else self._key(self.expr(key)) for key in node.keys]
        values = [
            guard("g_merged", BUDGET, self.expr(value)) if key is None else self.expr(value)
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return self.made(ast.Dict(keys, values))

    def made(self, collection: ast.expr) -> ast.expr:
        """A collection that the expression creates. A script owns it and may change it."""
        return guard("g_own", ast.Name("O", ast.Load()), collection) if self.script else collection

    def _element(self, node: ast.expr, spread: str) -> ast.expr:
        if isinstance(node, ast.Starred):
            return ast.Starred(guard(spread, BUDGET, self.expr(node.value)), ast.Load())
        return self.expr(node)

    def _key(self, key: ast.expr) -> ast.expr:
        return key if isinstance(key, ast.Constant | ast.Starred) else guard("g_key", BUDGET, key)

    def on_listcomp(self, node: ast.ListComp | ast.GeneratorExp) -> ast.expr:
        generators, (element,) = self._comprehension(node.generators, [node.elt], False)
        return self.made(ast.ListComp(element, generators))

    def on_setcomp(self, node: ast.SetComp) -> ast.expr:
        generators, (element,) = self._comprehension(node.generators, [node.elt], True)
        return self.made(ast.SetComp(element, generators))

    def on_dictcomp(self, node: ast.DictComp) -> ast.expr:
        generators, (key, value) = self._comprehension(node.generators, [node.key, node.value], True)
        return self.made(ast.DictComp(key, value, generators))

    def generator(self, node: ast.GeneratorExp) -> ast.expr:
        """A real generator, only for functions that consume it at once."""
        generators, (element,) = self._comprehension(node.generators, [node.elt], False)
        return ast.GeneratorExp(element, generators)

    def _comprehension(
        self, generators: list[ast.comprehension], results: list[ast.expr], keyed: bool
    ) -> tuple[list[ast.comprehension], list[ast.expr]]:
        names: set[str] = set()
        repeated = [part.iter for part in generators[1:]] + [test for part in generators for test in part.ifs]
        weight = weight_of(*(part.target for part in generators), *repeated, *results)
        made: list[ast.comprehension] = []
        with self.inside_loop(names):
            for part in generators:
                if part.is_async:
                    raise self.refused("'async for' is not allowed in an expression", part.target)
                source = guard("g_each", BUDGET, self.expr(part.iter), ast.Constant(weight))
                names |= self.target_names(part.target)
                made.append(ast.comprehension(_local_target(part.target), source, list(map(self.expr, part.ifs)), 0))
            elements = [self.expr(result) for result in results]
        if keyed:
            elements[0] = self._key(elements[0])
        return made, elements

    def target_names(self, target: ast.expr) -> set[str]:
        if isinstance(target, ast.Name):
            return {target.id}
        if isinstance(target, ast.Tuple | ast.List):
            return set().union(*map(self.target_names, target.elts))
        raise self.refused(f"{_display_name(target)} cannot be a loop variable", target)


def _local_target(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return local(target.id, ast.Store())
    assert isinstance(target, ast.Tuple | ast.List)
    return ast.Tuple([_local_target(item) for item in target.elts], ast.Store())


def _is_exactly(value: ast.expr, kind: str) -> ast.expr:
    return ast.Compare(ast.Attribute(value, "__class__", ast.Load()), [ast.Is()], [ast.Name(kind, ast.Load())])


def _is_plain(node: ast.expr) -> bool:
    """Whether the node is free of cost and side effects, so that it can appear twice."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Constant | ast.Name)


def _compares_cheaply(node: ast.Compare) -> bool:
    """Whether no comparison takes longer than its constants and stored values are long. Values that an expression makes
    may contain a long text many times."""
    operands = [node.left, *node.comparators]
    cheap = [_is_scalar(operand) for operand in operands]
    stored = [is_cheap or _is_stored(operand) for is_cheap, operand in zip(cheap, operands, strict=True)]
    return all(
        cheap[index] or cheap[index + 1] or (stored[index] and stored[index + 1]) for index in range(len(node.ops))
    )


def _is_scalar(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def _is_stored(node: ast.expr) -> bool:
    """Whether the node reads a variable, or a part of one."""
    while isinstance(node, ast.Attribute) or (
        isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice)
    ):
        node = node.value
    return isinstance(node, ast.Name)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (
        isinstance(node.value, float) or (isinstance(node.value, int) and abs(node.value) < _PLAIN_NUMBER)
    )


def _display_name(node: ast.AST) -> str:
    return _DISPLAY_NAMES.get(type(node), f"'{type(node).__name__}'")


_DISPLAY_NAMES: dict[type[ast.AST], str] = {
    ast.Lambda: "'lambda' (other than as key=)",
    ast.NamedExpr: "':='",
    ast.Await: "'await'",
    ast.Yield: "'yield'",
    ast.YieldFrom: "'yield from'",
    ast.Starred: "'*'",
    ast.GeneratorExp: "a generator (other than in a call)",
    ast.Slice: "a slice in a tuple",
}
