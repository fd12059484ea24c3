"""Name resolution of expressions: names become positions in the scope at compile time.

In generated code, `S` is the scope: a variable two levels up at index 3 is `S[0][0][3]`. The facts of the instance are
`S[0][0]…`, one index per level.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable
from typing import Any

from holdfast.model.scope import Names, Scope

MAX_READS = 8

FACTS = {
    "id": "id",
    "correlation_id": "correlation_id",
    "name": "name",
    "parent_id": "parent_id",
    "definition_id": "definition_id",
    "version": "definition_version",
    "definition_version_id": "definition_version_id",
}
"""`instance.<key>` → attribute of the instance facts."""

Reader = Callable[[Scope], Any]


class NameUnknown(Exception):
    """A name that is not defined here; the message lists alternatives."""


class Places:
    """Turns names into code that reads them, and records the reads for the journal."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.reads: dict[str, Reader] = {}

    def variable(self, name: str) -> ast.expr | None:
        found = self.names.variable(name)
        if found is None:
            return None
        self._note(name, slot_reader(*found))
        return slot(*found)

    def input(self, name: str) -> ast.expr:
        found = self.names.input(name)
        if found is None:
            inputs = [known for shape in self.names.shapes for known in shape.inputs]
            raise NameUnknown(f"there is no input '{name}'" + suggestion(name, inputs, "inputs"))
        self._note(f"inputs.{name}", slot_reader(*found))
        return slot(*found)

    def required_variable(self, name: str) -> ast.expr:
        found = self.variable(name)
        if found is None:
            raise NameUnknown(f"there is no variable '{name}'" + suggestion(name, self.names.visible(), "variables"))
        return found

    def fact(self, name: str) -> ast.expr:
        """`instance.<name>`."""
        if name not in FACTS:
            raise NameUnknown(f"there is no instance.{name}" + suggestion(name, list(FACTS), "facts"))
        attribute, depth = FACTS[name], self.names.depth
        self._note(f"instance.{name}", lambda scope: getattr(_facts(scope, depth), attribute))
        return ast.Attribute(self.facts(), attribute, ast.Load())

    def last_result(self) -> ast.expr:
        depth = self.names.depth
        self._note("last_result", lambda scope: _facts(scope, depth).last_result)
        return ast.Attribute(self.facts(), "last_result", ast.Load())

    def output(self, activity: ast.expr, output: ast.expr | None) -> ast.expr:
        if isinstance(activity, ast.Constant) and (output is None or isinstance(output, ast.Constant)):
            self._note_output(activity.value, output.value if isinstance(output, ast.Constant) else None)
        method = ast.Attribute(self.facts(), "output_of", ast.Load())
        return ast.Call(method, [activity, output or ast.Constant(None)], [])

    def facts(self) -> ast.expr:
        return _hop(self.names.depth)

    def settable(self, name: str) -> tuple[int, int] | None:
        """Location that an assignment to this name writes to; None if there is no such variable."""
        for hops, shape in enumerate(self.names.shapes):
            if name in shape.names:
                return hops, shape.names[name]
            if shape.boundary:
                return None
        return None

    def _note_output(self, activity: Any, output: Any) -> None:
        depth = self.names.depth
        label = f"outputs.{activity}" + (f".{output}" if output else "")
        self._note(label, lambda scope: _facts(scope, depth).output_of(activity, output))

    def _note(self, label: str, reader: Reader) -> None:
        if len(self.reads) < MAX_READS:
            self.reads.setdefault(label, reader)


def suggestion(name: str, known: list[str], what: str) -> str:
    """Suffix such as `; did you mean 'total'? (variables: …)`."""
    close = difflib.get_close_matches(name, known, n=1)
    guess = f"; did you mean '{close[0]}'?" if close else ""
    shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")  # keep the message short
    return f"{guess} ({what}: {shown or 'none'})"


def slot(hops: int, index: int) -> ast.Subscript:
    return ast.Subscript(_hop(hops), ast.Constant(index), ast.Load())


def slot_reader(hops: int, index: int) -> Reader:
    def read(scope: Scope) -> Any:
        for _ in range(hops):
            scope = scope[0]
        return scope[index]

    return read


def _hop(hops: int) -> ast.expr:
    found: ast.expr = ast.Name("S", ast.Load())
    for _ in range(hops):
        found = ast.Subscript(found, ast.Constant(0), ast.Load())
    return found


def _facts(scope: Any, depth: int) -> Any:
    for _ in range(depth):
        scope = scope[0]
    return scope
