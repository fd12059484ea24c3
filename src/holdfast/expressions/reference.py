"""`$variable` and `$input`: the value of one name, resolved at compile time. Both also accept Elsa's object form."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from holdfast.errors import ExpressionRefused, ExpressionSyntax
from holdfast.model.scope import Names, Scope
from holdfast.ports import CompiledExpression, CompiledScript


class VariableEvaluator:
    """Looks up by id first, because a document may have several variables of one name; then by name."""

    language = "variable"

    def compile(self, source: Any, names: Names) -> CompiledExpression:
        wanted = _wanted(source, self.language)
        for table in ("ids", "names"):
            for name in wanted:
                for hops, shape in enumerate(names.shapes):
                    if name in getattr(shape, table):
                        return _reading(name, hops, getattr(shape, table)[name])
                    if shape.boundary:
                        break
        raise _unknown(self.language, wanted, [name for name in names.visible() if names.variable(name)])

    def compile_script(self, source: str, names: Names) -> CompiledScript:
        raise _no_script(self.language, source)


class InputEvaluator:
    language = "input"

    def compile(self, source: Any, names: Names) -> CompiledExpression:
        wanted = _wanted(source, self.language)
        for name in wanted:
            found = names.input(name)
            if found is not None:
                return _reading(f"inputs.{name}", *found)
        raise _unknown(self.language, wanted, [name for shape in names.shapes for name in shape.inputs])

    def compile_script(self, source: str, names: Names) -> CompiledScript:
        raise _no_script(self.language, source)


def _wanted(source: Any, language: str) -> list[str]:
    """Names to look up, best first: a text, or the `id` and `name` of an object."""
    found = [source.get("id"), source.get("name")] if isinstance(source, Mapping) else [source]
    wanted = [name for name in found if isinstance(name, str) and name]
    if not wanted:
        raise ExpressionSyntax(
            f"${language} takes a name, such as {{'${language}': 'total'}}.",
            language=language,
            source=str(source)[:200],
        )
    return wanted


def _reading(label: str, hops: int, index: int) -> CompiledExpression:
    def read(scope: Scope) -> Any:
        for _ in range(hops):
            scope = scope[0]
        return scope[index]

    def near(scope: Scope) -> Any:
        return scope[index]

    reader = read if hops else near
    return CompiledExpression(reader, ((label, reader),))


def _unknown(language: str, wanted: list[str], known: list[str]) -> ExpressionRefused:
    close = difflib.get_close_matches(wanted[-1], known, n=1)
    guess = f" Did you mean '{close[0]}'?" if close else ""
    listed = ", ".join(known[:12]) or "none"
    return ExpressionRefused(
        f"There is no {language} '{wanted[-1]}' here.{guess} Known: {listed}.", language=language, source=wanted[-1]
    )


def _no_script(language: str, source: Any) -> ExpressionRefused:
    return ExpressionRefused(
        f"${language} names a value, not a script. Use python or javascript.", language=language, source=str(source)
    )
