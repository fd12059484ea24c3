"""Checks of a workflow function: one walk over its tree refuses unsupported code before compilation."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from holdfast.authoring.compiler.blocks import has_await
from holdfast.authoring.compiler.names import COMPREHENSIONS, ModuleNames, is_temporary, local_names
from holdfast.authoring.compiler.source import Source
from holdfast.authoring.compiler.walk import nodes_of

_FRAME_MAGIC = frozenset({"locals", "vars", "dir", "eval", "exec", "super", "globals", "breakpoint"})
_MUTABLE = (ast.List, ast.Dict, ast.Set, ast.Call, ast.Lambda, *COMPREHENSIONS)
_IMMUTABLE = frozenset({timedelta, Decimal, date, datetime, time, UUID})
_ALWAYS_MAGIC = frozenset({"locals", "super", "eval", "exec", "globals", "breakpoint"})


def check_function(source: Source) -> None:
    """Raises `WorkflowRefused` for the first unsupported construct."""
    _Checker(source).check()


class _Checker:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.refuse = source.place.refuse
        self.locals = frozenset(local_names(source.tree))
        self.rules: dict[type, Callable[[Any], None]] = {
            ast.Yield: self._yield,
            ast.YieldFrom: self._yield,
            ast.Global: self._global,
            ast.Nonlocal: self._global,
            ast.AsyncFor: self._async_for,
            ast.comprehension: self._comprehension,
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.ClassDef: self._class,
            ast.Assign: self._kept,
            ast.AnnAssign: self._kept,
            ast.NamedExpr: self._kept,
            ast.GeneratorExp: self._generator,
            ast.Call: self._magic,
            ast.Name: self._reserved,
            ast.TryStar: self._star,
            ast.Delete: self._delete,
        }

    def check(self) -> None:
        self._signature()
        for statement in self.source.tree.body:
            for node in nodes_of(statement):
                rule = self.rules.get(type(node))
                if rule is not None:
                    rule(node)

    def _signature(self) -> None:
        tree, arguments = self.source.tree, self.source.tree.args
        if len(tree.decorator_list) > 1:
            self.refuse(
                "decorator",
                tree.decorator_list[0],
                "Other decorators have no effect, because the workflow is compiled from its text.",
                "Use @workflow alone.",
            )
        if arguments.vararg or arguments.kwarg:
            self.refuse("star-parameters", tree, "Inputs of a workflow need names.", "List the parameters.")
        if arguments.args and arguments.args[0].arg in ("self", "cls"):
            self.refuse("method", tree, "A method cannot be a workflow.", "Define it at module level.")
        if arguments.posonlyargs:
            self.refuse("positional-only", tree, "Inputs of a workflow need names.", "Remove the `/`.")
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            if isinstance(default, _MUTABLE) and not self._is_constant(default):
                self.refuse(
                    "mutable-default",
                    default,
                    "This default would be shared by all instances of a process, but not after a restart.",
                    "Use None and create the value inside the function.",
                )

    def _is_constant(self, default: ast.expr) -> bool:
        """Whether a default such as `timedelta(days=3)` or `Decimal("1.5")` is immutable and the same on every import."""
        made = ModuleNames(self.source, []).resolve(default.func) if isinstance(default, ast.Call) else None
        return isinstance(made, type) and made in _IMMUTABLE

    def _yield(self, node: ast.AST) -> None:
        self.refuse("yield", node, "A workflow cannot be a generator.", "Collect into a list and return it.")

    def _global(self, node: ast.AST) -> None:
        word = type(node).__name__.lower()
        self.refuse(
            "global",
            node,
            f"`{word}` changes state that is not stored with the instance.",
            "Use a local, or change it inside an activity.",
        )

    def _async_for(self, node: ast.AST) -> None:
        self.refuse(
            "async-for",
            node,
            "A stream cannot be stored between two items.",
            "`for item in await fetch_page(…)` inside `while`.",
        )

    def _comprehension(self, node: ast.comprehension) -> None:
        if node.is_async:
            self._async_for(node.target)

    def _function(self, node: Any) -> None:
        self.refuse(
            "nested-function",
            node,
            f"`def {node.name}` inside a workflow creates a function object that cannot be stored.",
            "Move it to module level and pass its inputs as arguments.",
        )

    def _class(self, node: ast.ClassDef) -> None:
        self.refuse(
            "nested-class",
            node,
            f"`class {node.name}` inside a workflow cannot be imported later.",
            "Move it to module level.",
        )

    def _kept(self, node: Any) -> None:
        if isinstance(node.value, ast.Lambda):
            self.refuse(
                "lambda-kept",
                node,
                "A lambda assigned to a name cannot be stored.",
                "Define a function at module level; lambdas as arguments are fine.",
            )
        if isinstance(node.value, ast.GeneratorExp):
            self.refuse(
                "generator-kept", node, "A generator assigned to a name cannot be stored.", "Use a list: `[…]`."
            )

    def _generator(self, node: ast.GeneratorExp) -> None:
        if has_await(node):
            self.refuse(
                "generator-await",
                node,
                "A generator that awaits cannot be stored.",
                "Use a list: `[await f(x) for x in xs]`.",
            )

    def _delete(self, node: ast.Delete) -> None:
        if has_await(node):
            self.refuse("await-in-del", node, "`await` inside `del`.", "Compute the index first.")

    def _star(self, node: ast.AST) -> None:
        if has_await(node):
            self.refuse(
                "except-star",
                node,
                "`except*` around an await.",
                "Use `except ExceptionGroup as group:` and inspect the group.",
            )

    def _magic(self, node: ast.Call) -> None:
        function = node.func
        if not isinstance(function, ast.Name) or function.id not in _FRAME_MAGIC or function.id in self.locals:
            return
        if self.source.globals.get(function.id, getattr(builtins, function.id)) is not getattr(builtins, function.id):
            return
        if function.id in _ALWAYS_MAGIC or not node.args:
            self.refuse(
                "frame-magic",
                node,
                f"`{function.id}()` needs a Python frame, and a workflow has none.",
                "Use the values by name.",
            )

    def _reserved(self, node: ast.Name) -> None:
        if (
            is_temporary(node.id)
            or node.id in ("__scope", "__unset", "__watch", "__value", "__unbound_error", "__class__")
            or node.id.startswith("__holdfast")
        ):
            self.refuse("reserved-name", node, f"`{node.id}` is reserved.", "Use another name.")
