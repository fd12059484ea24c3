"""Rewriting of calls and of the roots `inputs`, `variables`, `outputs`, `instance`, and Elsa's Python globals.

Elsa's globals are `input.Get`, `output.Get`, `execution_context.GetVariable` and others. All are bound by name at
compile time.
"""

from __future__ import annotations

import ast

from holdfast.expressions.python import functions, methods
from holdfast.expressions.python.names import NameUnknown, suggestion
from holdfast.expressions.python.rewrite import BUDGET, Rewriter, guard, local, weight_of

_ROOTS = frozenset({"inputs", "variables", "outputs", "instance", "input", "output", "execution_context", "outcome"})
_MODULES = frozenset({"json", "math", "datetime", "date", "time", "timezone"})
_ELSA_FACTS = {"WorkflowInstanceId": "id", "CorrelationId": "correlation_id"}
_FRESH = frozenset({"list", "dict", "set", "sorted", "range", "zip", "enumerate", "reversed"})
"""Functions that return a new collection, which a script may change."""
_FRESH_METHODS = frozenset({"copy", "split", "rsplit", "splitlines", "keys", "values", "items", "union"})
_NO_CLOCK = "expressions have no clock and no randomness, because they may run twice; pass the time as a variable"
_REASONS = {
    "now": _NO_CLOCK,
    "today": _NO_CLOCK,
    "utcnow": _NO_CLOCK,
    "format": "use an f-string to build text, f'{value:>8}'",
    "format_map": "use an f-string to build text",
    "re": "Python cannot interrupt a regular expression; use $javascript instead",
    "random": _NO_CLOCK,
}


class CallRewriter(Rewriter):
    # -- roots ---------------------------------------------------------------------------------------------------------

    def _is_root(self, node: ast.expr, names: frozenset[str]) -> bool:
        """Whether a name refers to a root, that is, no nearer name shadows it."""
        return (
            isinstance(node, ast.Name)
            and node.id in names
            and not self.is_local(node.id)
            and self.places.names.variable(node.id) is None
        )

    def root_member(self, node: ast.expr) -> ast.expr | None:
        steps = self._steps(node)
        if steps is None:
            return None
        root, *members = steps
        if root in _MODULES:
            return self._module_constant(root, members)
        if root == "outputs" and len(members) in (1, 2):
            return self.places.output(*_constants(members)) if len(members) == 2 else self._only_output(node, members)
        if len(members) != 1:
            return None
        if root == "inputs":
            return self.places.input(members[0])
        if root == "variables":
            return self.places.required_variable(members[0])
        if root == "instance":
            return self.places.fact(members[0])
        if root == "execution_context" and members[0] in _ELSA_FACTS:
            return self.places.fact(_ELSA_FACTS[members[0]])
        if root == "output" and members[0] == "LastResult":
            return self.places.last_result()
        raise NameUnknown(f"there is no {root}.{members[0]}")

    def _only_output(self, node: ast.expr, members: list[str]) -> ast.expr:
        return self.places.output(ast.Constant(members[0]), None)

    def _steps(self, node: ast.expr) -> list[str] | None:
        """Names of a path such as `outputs.check["total"]`, if it starts at a root."""
        steps: list[str] = []
        while isinstance(node, ast.Attribute | ast.Subscript):
            if isinstance(node, ast.Attribute):
                steps.append(node.attr)
            elif isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                steps.append(node.slice.value)
            else:
                return None
            node = node.value
        if not self._is_root(node, _ROOTS | _MODULES) or not isinstance(node, ast.Name):
            return None
        return [node.id, *reversed(steps)]

    def _module_constant(self, root: str, members: list[str]) -> ast.expr:
        name = ".".join([root, *members])
        if name not in functions.CONSTANTS:
            why = _REASONS.get(members[0], "expressions cannot use it")
            raise NameUnknown(f"there is no {name} here: {why}")
        return ast.Name(f"c_{name.replace('.', '_')}", ast.Load())

    def on_name(self, node: ast.Name) -> ast.expr:
        if self._is_root(node, _ROOTS):
            raise self.refused(f"'{node.id}' is not a value; name a member, such as {node.id}.total", node)
        if self._is_root(node, frozenset(functions.FUNCTIONS)):
            raise self.refused(f"the function '{node.id}' is not a value; call it", node)
        return super().on_name(node)

    # -- calls ---------------------------------------------------------------------------------------------------------

    def on_call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name):
            return self._function_call(node, node.func.id)
        if isinstance(node.func, ast.Attribute):
            return self._member_call(node, node.func)
        raise self.refused("only functions and methods can be called, by name", node)

    def _function_call(self, node: ast.Call, name: str) -> ast.expr:
        if self.is_local(name):
            raise self.refused(f"'{name}' is a value, not a function", node)
        if name == "isinstance":
            return self._isinstance(node)
        if name == "output_of":
            return self._output_of(node)
        if name in ("set_outcome", "set_outcomes"):
            return self.outcome_call(node)
        if name not in functions.FUNCTIONS:
            why = _REASONS.get(name, "")
            known = [*functions.FUNCTIONS, "isinstance", "output_of"]
            raise self.refused(
                f"there is no function '{name}' here" + (why or suggestion(name, known, "functions")), node
            )
        made = self._called(f"f_{name}", [BUDGET], node, name)
        return self.made(made) if name in _FRESH else made

    def _member_call(self, node: ast.Call, func: ast.Attribute) -> ast.expr:
        name = func.attr
        if self._is_root(func.value, _ROOTS) and isinstance(func.value, ast.Name):
            rooted = self._root_call(node, func.value.id, name)
            if rooted is not None:
                return rooted
        if self._is_root(func.value, _MODULES) and isinstance(func.value, ast.Name):
            return self._module_call(node, func.value.id, name)
        self.check_member(func)
        if name not in methods.NAMES:
            why = _REASONS.get(
                name, "methods that change a value are only allowed as statements of a script; others are not supported"
            )
            raise self.refused(f"there is no method '{name}' here: {why}", node)
        made = self._called("g_call", [BUDGET, self.expr(func.value), ast.Constant(name)], node, name)
        return self.made(made) if name in _FRESH_METHODS else made

    def _module_call(self, node: ast.Call, module: str, name: str) -> ast.expr:
        full = f"{module}.{name}"
        if full not in functions.MEMBERS:
            why = _REASONS.get(name, "expressions cannot use it")
            raise self.refused(f"there is no {full} here: {why}", node)
        return self._called(f"f_{full.replace('.', '_')}", [BUDGET], node, full)

    def _root_call(self, node: ast.Call, root: str, name: str) -> ast.expr | None:
        """`variables.get("x")` and Elsa's `input.Get("x")`, `output.Get(…)`, `outcome.Set(…)`."""
        if (root, name) in (("variables", "get"), ("execution_context", "GetVariable")):
            return self.places.required_variable(self.text_argument(node, 0))
        if (root, name) == ("input", "Get"):
            return self.places.input(self.text_argument(node, len(node.args) - 1))
        if (root, name) == ("output", "Get"):
            return self._output_of(node)
        if (root, name) == ("outcome", "Set"):
            return self.outcome_call(node)
        if root == "outputs":
            return None
        raise self.refused(f"there is no {root}.{name}() here", node)

    def _called(self, target: str, first: list[ast.expr], node: ast.Call, name: str) -> ast.expr:
        args = [self._argument(arg, name) for arg in node.args]
        named = []
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.refused("'**' is not allowed in a call", node)
            if keyword.arg == "key" and name in functions.TAKE_KEY:
                named.append(ast.keyword("key", self._key_function(keyword.value)))
            else:
                named.append(ast.keyword(keyword.arg, self.expr(keyword.value)))
        return ast.Call(ast.Name(target, ast.Load()), [*first, *args], named)

    def _argument(self, node: ast.expr, function: str) -> ast.expr:
        if isinstance(node, ast.GeneratorExp):
            return self.generator(node) if function in functions.TAKE_GENERATOR else self.on_listcomp(node)
        return self.expr(node)

    def _key_function(self, node: ast.expr) -> ast.expr:
        """`key=lambda item: …` is the only function that an expression can create; it does not outlive its call."""
        if isinstance(node, ast.Constant) and node.value is None:
            return node
        if not isinstance(node, ast.Lambda):
            raise self.refused("key= takes a lambda", node)
        given = node.args
        if given.posonlyargs or given.kwonlyargs or given.defaults or given.vararg or given.kwarg:
            raise self.refused("the lambda of key= takes one parameter", node)
        if len(given.args) != 1:
            raise self.refused("the lambda of key= takes one parameter", node)
        name = given.args[0].arg
        with self.inside_loop({name}):
            body = self.expr(node.body)
        paid = guard("g_charge", BUDGET, ast.Constant(weight_of(node.body)))
        parameters = ast.arguments([], [ast.arg(local(name).id)], None, [], [], None, [])
        return ast.Lambda(parameters, ast.IfExp(paid, body, ast.Constant(None)))

    def _isinstance(self, node: ast.Call) -> ast.expr:
        if len(node.args) != 2 or node.keywords:  # value and type
            raise self.refused("isinstance takes a value and a type", node)
        wanted = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
        names = [kind.id for kind in wanted if isinstance(kind, ast.Name) and kind.id in functions.TYPES]
        if len(names) != len(wanted):
            raise self.refused(f"isinstance knows the types {', '.join(functions.TYPES)}", node)
        kinds: list[ast.expr] = [ast.Name(f"t_{name}", ast.Load()) for name in names]
        return guard("g_is", self.expr(node.args[0]), ast.Tuple(kinds, ast.Load()))

    def _output_of(self, node: ast.Call) -> ast.expr:
        if not 1 <= len(node.args) <= 2 or node.keywords:  # activity and output
            raise self.refused(
                "output_of() takes an activity and, if it has several outputs, an output: output_of('check', 'total')",
                node,
            )
        names = [ast.Constant(self.text_argument(node, index)) for index in range(len(node.args))]
        return self.places.output(names[0], names[1] if len(names) > 1 else None)

    def text_argument(self, node: ast.Call, index: int) -> str:
        if 0 <= index < len(node.args) and not node.keywords:
            found = node.args[index]
            if isinstance(found, ast.Constant) and isinstance(found.value, str):
                return found.value
        raise self.refused("names must be literal text here, because they are resolved at compile time", node)

    def outcome_call(self, node: ast.Call) -> ast.expr:
        if not self.script:
            raise self.refused("only scripts can set outcomes, not expressions", node)
        if node.keywords or not node.args:
            raise self.refused("outcomes must be text: set_outcome('Approved')", node)
        return guard("g_outcomes", ast.Name("R", ast.Load()), *map(self.expr, node.args))


def _constants(names: list[str]) -> tuple[ast.expr, ast.expr]:
    return ast.Constant(names[0]), ast.Constant(names[1])
