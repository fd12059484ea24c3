"""Compilation unit: one function with its names, temporaries and ids, and factory methods for all compiler passes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from symtable import symtable
from textwrap import indent
from typing import Any

from holdfast.authoring.compiler.blocks import Completions, located, text_of
from holdfast.authoring.compiler.drafts import Draft, Ids
from holdfast.authoring.compiler.names import COMPREHENSIONS, FUNCTIONS, ModuleNames, is_temporary, local_names
from holdfast.authoring.compiler.passes import CallPass, ExpressionPass, StatementPass
from holdfast.authoring.compiler.source import Source
from holdfast.authoring.compiler.walk import nodes_of
from holdfast.model.definition import Expression

_LABEL = 60
_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Delete, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)


class Condition:
    """A branch created by lowering an await (`and`, `or`, `x if y else z`). Becomes an If when the statement is sealed."""

    def __init__(self, test: ast.expr, then: list[Any], otherwise: list[Any], at: ast.AST) -> None:
        self.test = test
        self.then = then
        self.otherwise = otherwise
        self.at = at


class Unit:
    expressions: ExpressionPass
    calls: CallPass
    statements: StatementPass

    def __init__(self, source: Source, prefix: str, chain: tuple[str, ...]) -> None:
        self.source = source
        self.place = source.place
        self.refuse = source.place.refuse
        self.locals = local_names(source.tree)
        self.module_names = ModuleNames(source, self.locals)
        self.ids = Ids(prefix)
        self.chain = chain
        """Workflows being compiled around this one."""
        self.temporaries: list[str] = []
        self.used: set[str] = set()
        self.assigned: set[str] = set()
        """Locals that certainly have a value at the current position."""
        self.walrus: set[str] = set()
        """Locals that the current statement rebinds with `:=`."""
        self.helpers: dict[str, dict[str, Any]] = {}
        """Helper functions that the stored code refers to."""
        self.result_types: dict[str, list[str]] = {}
        """For locals assigned from activities: the types of the activities' results."""
        self.activity_types: dict[str, Any] = {}
        self.value_types: dict[type, None] = {}
        self.children: dict[str, Any] = {}
        """Workflows that it starts with `run_child`, by id."""

    # -- temporaries ---------------------------------------------------------------------------------------------------

    def temporary(self) -> str:
        name = f"__{len(self.temporaries) + 1}"
        self.temporaries.append(name)
        return name

    def load(self, name: str, at: ast.AST) -> ast.expr:
        found: ast.expr = located(ast.Name(name, ast.Load()), at)
        return found

    def assign(self, name: str, value: ast.expr) -> ast.stmt:
        found: ast.stmt = located(ast.Assign([ast.Name(name, ast.Store())], value), value)
        return found

    # -- definite assignment -------------------------------------------------------------------------------------------

    @contextmanager
    def branch(self) -> Iterator[list[set[str]]]:
        """Limit assignments to a branch. Yields a list that receives the set at its end."""
        before = set(self.assigned)
        ends: list[set[str]] = []
        yield ends
        ends.append(self.assigned)
        self.assigned = before

    # -- text ----------------------------------------------------------------------------------------------------------

    def code(self, body: list[ast.stmt]) -> tuple[Expression, list[list[int]]]:
        text, lines, nodes = text_of(body, self.place)
        self.used |= names_beyond(text, nodes)
        return Expression("code", text), lines

    def put_code(self, draft: Draft, name: str, body: list[ast.stmt]) -> None:
        """Set an input of the draft to statements."""
        draft.inputs[name], draft.metadata.setdefault("lines", {})[name] = self.code(body)

    def put_value(self, draft: Draft, name: str, value: ast.expr) -> None:
        """Set an input of the draft to an expression."""
        self.put_code(draft, name, [located(ast.Expr(value), value)])

    def put_test(self, draft: Draft, name: str, value: ast.expr) -> None:
        """Set an input of the draft to the truth value of an expression, as Python evaluates it."""
        self.put_value(draft, name, located(ast.IfExp(value, ast.Constant(True), ast.Constant(False)), value))

    # -- drafts --------------------------------------------------------------------------------------------------------

    def draft(self, type_: str, base: str, at: ast.AST, title: str | None = None, **given: Any) -> Draft:
        metadata: dict[str, Any] = {"line": self.place.line_of(at)}
        if title:
            metadata["title"] = title
        return Draft(type=type_, id=self.ids.new(base), metadata=metadata, **given)

    def label(self, node: ast.AST) -> str:
        """The user's own text on one line."""
        line = " ".join((self.place.text_of(node) or ast.unparse(node)).split())
        return line if len(line) <= _LABEL else line[: _LABEL - 1] + "…"

    def block(self, body: list[ast.stmt], title: str | None = None) -> Draft:
        # Simple statements contain no jumps, and most statements are simple.
        transformed = [item if isinstance(item, _SIMPLE) else Completions().visit(item) for item in body]
        first = next((item for item in body if not is_made(item)), body[0])
        draft = self.draft("Code", base_of(body[0]), first, title or self.title(body))
        if all(map(is_made, body)):
            draft.metadata["folded"] = True  # diagrams may omit it: it only prepares the following await
        self.put_code(draft, "source", transformed)
        return draft

    def title(self, body: list[ast.stmt]) -> str:
        own = [item for item in body if not is_made(item)] or body
        first = self.label(own[0]).partition(":")[0] if hasattr(own[0], "body") else self.label(own[0])
        return first if len(own) == 1 else f"{first} and {len(own) - 1} more"

    def sequence(self, drafts: list[Draft], at: ast.AST) -> Draft:
        if len(drafts) == 1:
            return drafts[0]
        return self.draft("Sequence", "steps", at, ports={"activities": drafts})


def is_made(statement: ast.stmt) -> bool:
    """Whether a statement is generated, or only assigns or deletes temporaries."""
    if getattr(statement, "_made", False):
        return True
    targets = statement.targets if isinstance(statement, ast.Assign | ast.Delete) else [ast.Constant(0)]
    return all(isinstance(target, ast.Name) and is_temporary(target.id) for target in targets)


_OWN_SCOPES = frozenset((*FUNCTIONS, *COMPREHENSIONS))


def names_beyond(text: str, nodes: list[ast.AST]) -> set[str]:
    """Names that the text takes from outside, without those of its comprehensions and lambdas.

    Without such inner scopes these are all its names. The caller subtracts the function's locals.
    """
    if _OWN_SCOPES.isdisjoint(map(type, nodes)):
        return {node.id for node in nodes if isinstance(node, ast.Name)}
    tables = [symtable(f"def block():\n{indent(text, ' ')}", "block", "exec")]
    found: set[str] = set()
    while tables:
        table = tables.pop()
        tables.extend(table.get_children())
        if table.get_type() == "function":
            found |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    return found


def base_of(statement: ast.stmt) -> str:
    """Base for the id of a block: the name it assigns, the function it calls, or the kind of statement."""
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        names = [node.id for node in nodes_of(target) if isinstance(node, ast.Name)]
        return f"set_{names[0].strip('_')}" if names and not names[0].strip("_").isdigit() else "prepare"
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "run")
        return "run" if is_temporary(name) else str(name)
    return {"For": "for", "While": "while", "If": "if", "Raise": "raise", "Try": "try"}.get(
        type(statement).__name__, "run"
    )
