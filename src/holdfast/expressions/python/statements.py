"""Rewriting of scripts: the expression language plus assignments, `if`, `for`, `while` and `return`.

An assignment to a variable in scope writes to the scope; any other assigned name is local to the script. The result of
a script is its return value, or the value of its last line.
"""

from __future__ import annotations

import ast

from holdfast.expressions.python.calls import CallRewriter
from holdfast.expressions.python.mutation import CHANGES
from holdfast.expressions.python.names import NameUnknown, slot, suggestion
from holdfast.expressions.python.rewrite import _OPERATORS, BUDGET, guard, local, weight_of

_OWNED = ast.Name("O", ast.Load())


class ScriptRewriter(CallRewriter):
    def body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        self.assigned: dict[tuple[int, int], None] = {}
        self.locals.append(self._own_names(statements))
        if statements and isinstance(statements[-1], ast.Expr) and not self._is_change(statements[-1].value):
            last = statements[-1]
            statements = [*statements[:-1], ast.copy_location(ast.Return(last.value), last)]
        return self._block(statements)

    def _own_names(self, statements: list[ast.stmt]) -> set[str]:
        """Names that the script assigns and that are not variables."""
        names: set[str] = set()
        for statement in statements:
            for node in ast.walk(statement):
                targets: list[ast.expr] = []
                if isinstance(node, ast.Assign):
                    targets = node.targets
                elif isinstance(node, ast.For | ast.AugAssign | ast.AnnAssign):
                    targets = [node.target]
                for target in targets:
                    names |= {name for name in _names_in(target) if self.places.settable(name) is None}
        return names

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in statements:
            method = getattr(self, f"on_{type(statement).__name__.lower()}_statement", None)
            if method is None:
                raise self.refused(f"'{type(statement).__name__}' is not allowed in a script", statement)
            try:
                parts: list[ast.stmt] = method(statement)
            except NameUnknown as unknown:
                raise self.refused(str(unknown), statement) from None
            made += [ast.copy_location(part, statement) for part in parts]
        return made or [ast.Pass()]

    # -- assignments ---------------------------------------------------------------------------------------------------

    def on_assign_statement(self, node: ast.Assign) -> list[ast.stmt]:
        value = self.expr(node.value)
        if len(node.targets) == 1:
            return self._assign(node.targets[0], value)
        kept = self._temporary()
        made: list[ast.stmt] = [ast.Assign([ast.Name(kept, ast.Store())], value)]
        for target in node.targets:
            made += self._assign(target, ast.Name(kept, ast.Load()))
        return made

    def on_annassign_statement(self, node: ast.AnnAssign) -> list[ast.stmt]:
        return [] if node.value is None else self._assign(node.target, self.expr(node.value))

    def on_augassign_statement(self, node: ast.AugAssign) -> list[ast.stmt]:
        operator = _OPERATORS.get(type(node.op))
        if operator is None:
            raise self.refused(f"the operator {type(node.op).__name__} does not exist here", node)
        if isinstance(node.target, ast.Subscript) and not self._is_variable(node.target):
            return self._changed_item(node, node.target, operator)
        before = ast.copy_location(_loaded(node.target), node.target)
        value = self.made(guard(operator, BUDGET, self.expr(before), self.expr(node.value)))
        return self._assign(node.target, value)

    def _changed_item(self, node: ast.AugAssign, target: ast.Subscript, operator: str) -> list[ast.stmt]:
        """`found[index] += value`, with both evaluated once."""
        found, index = self._temporary(), self._temporary()
        holder, position = ast.Name(found, ast.Load()), ast.Name(index, ast.Load())
        value = guard(operator, BUDGET, guard("g_item", BUDGET, holder, position), self.expr(node.value))
        return [
            ast.Assign([ast.Name(found, ast.Store())], self.expr(_loaded(target.value))),
            ast.Assign([ast.Name(index, ast.Store())], self.expr(target.slice)),
            ast.Expr(guard("g_put", BUDGET, _OWNED, holder, position, value)),
        ]

    def _assign(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        if isinstance(target, ast.Tuple | ast.List):
            return self._assign_parts(target, value)
        if isinstance(target, ast.Name):
            return [ast.Assign([self._name_target(target.id, target)], value)]
        if self._is_variable(target):
            steps = self._steps(target) or []
            return [ast.Assign([self._variable_target(steps[1])], value)]
        if isinstance(target, ast.Subscript):
            holder = self.expr(_loaded(target.value))
            return [ast.Expr(guard("g_put", BUDGET, _OWNED, holder, self.expr(target.slice), value))]
        if isinstance(target, ast.Attribute):
            self.check_member(target)
            holder = self.expr(_loaded(target.value))
            return [ast.Expr(guard("g_put", BUDGET, _OWNED, holder, ast.Constant(target.attr), value))]
        raise self.refused("this cannot be assigned to", target)

    def _assign_parts(self, target: ast.Tuple | ast.List, value: ast.expr) -> list[ast.stmt]:
        kept = [self._temporary() for _ in target.elts]
        parts: list[ast.expr] = [ast.Name(name, ast.Store()) for name in kept]
        made: list[ast.stmt] = [ast.Assign([ast.Tuple(parts, ast.Store())], value)]
        for name, part in zip(kept, target.elts, strict=True):
            made += self._assign(part, ast.Name(name, ast.Load()))
        return made

    def _is_variable(self, target: ast.expr) -> bool:
        steps = self._steps(target)
        return steps is not None and steps[0] == "variables" and len(steps) == 2  # root and name

    def _name_target(self, name: str, node: ast.AST) -> ast.expr:
        found = self.places.settable(name)
        if found is not None:
            return self._slot_target(found)
        if self.places.names.variable(name) is not None:
            raise self.refused(f"'{name}' is an input and cannot be assigned; choose another name", node)
        return local(name, ast.Store())

    def _variable_target(self, name: str) -> ast.expr:
        found = self.places.settable(name)
        if found is None:
            known = self.places.names.visible()
            raise NameUnknown(f"there is no variable '{name}' to assign to" + suggestion(name, known, "variables"))
        return self._slot_target(found)

    def _slot_target(self, found: tuple[int, int]) -> ast.expr:
        self.assigned[found] = None
        target = slot(*found)
        target.ctx = ast.Store()
        return target

    def _temporary(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"

    # -- flow ----------------------------------------------------------------------------------------------------------

    def on_if_statement(self, node: ast.If) -> list[ast.stmt]:
        orelse = self._block(node.orelse) if node.orelse else []
        return [ast.If(self.expr(node.test), self._block(node.body), orelse)]

    def on_for_statement(self, node: ast.For) -> list[ast.stmt]:
        source = guard("g_each_now", BUDGET, self.expr(node.iter))
        turn = self._temporary()
        named = self._assign(node.target, ast.Name(turn, ast.Load()))
        body = [self._paid(node), *(ast.copy_location(part, node) for part in named), *self._block(node.body)]
        orelse = self._block(node.orelse) if node.orelse else []
        return [ast.For(ast.Name(turn, ast.Store()), source, body, orelse)]

    def on_while_statement(self, node: ast.While) -> list[ast.stmt]:
        orelse = self._block(node.orelse) if node.orelse else []
        return [ast.While(self.expr(node.test), [self._paid(node), *self._block(node.body)], orelse)]

    def _paid(self, node: ast.stmt) -> ast.stmt:
        """Charge each iteration for its statements."""
        return ast.copy_location(ast.Expr(guard("g_charge", BUDGET, ast.Constant(weight_of(node)))), node)

    def on_break_statement(self, node: ast.Break) -> list[ast.stmt]:
        return [ast.Break()]

    def on_continue_statement(self, node: ast.Continue) -> list[ast.stmt]:
        return [ast.Continue()]

    def on_pass_statement(self, node: ast.Pass) -> list[ast.stmt]:
        return [ast.Pass()]

    def on_return_statement(self, node: ast.Return) -> list[ast.stmt]:
        return [ast.Return(ast.Constant(None) if node.value is None else self.expr(node.value))]

    def on_expr_statement(self, node: ast.Expr) -> list[ast.stmt]:
        call = node.value
        if not self._is_change(call):
            return [ast.Expr(self.expr(call))]
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Attribute)
        steps = self._steps(call.func)
        if steps in (["variables", "set"], ["execution_context", "SetVariable"]):
            name = call.args[0] if call.args else None
            if len(call.args) != 2 or not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
                raise self.refused("it takes the name of a variable as text, and a value", node)
            return [ast.Assign([self._variable_target(name.value)], self.expr(call.args[1]))]
        if call.keywords:
            raise self.refused(f"{call.func.attr}() takes no keyword arguments", node)
        found = self.expr(call.func.value)
        return [
            ast.Expr(guard("g_change", BUDGET, _OWNED, found, ast.Constant(call.func.attr), *map(self.expr, call.args)))
        ]

    def _is_change(self, node: ast.expr) -> bool:
        """Whether the node is a call that changes something and has no value.

        Examples: `items.append(x)`, `variables.set("x", 1)`.
        """
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            return False
        if self._steps(node.func) in (["variables", "set"], ["execution_context", "SetVariable"]):
            return True
        return node.func.attr in CHANGES

    def on_delete_statement(self, node: ast.Delete) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for target in node.targets:
            if not isinstance(target, ast.Subscript) or isinstance(target.slice, ast.Slice):
                raise self.refused("del takes an item, such as found[0]", node)
            holder = self.expr(_loaded(target.value))
            made.append(ast.Expr(guard("g_drop", BUDGET, _OWNED, holder, self.expr(target.slice))))
        return made


def _names_in(target: ast.expr) -> set[str]:
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, ast.Tuple | ast.List):
        return set().union(*map(_names_in, target.elts))
    return set()


def _loaded(target: ast.expr) -> ast.expr:
    """The same target, read instead of written. Rewriting ignores the context of a node, so no copy is needed."""
    return target
