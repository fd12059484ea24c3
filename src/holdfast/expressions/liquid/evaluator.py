"""`$liquid`: text templates with `Variables.X`, `Input.X`, `CorrelationId` and Elsa's filters. The result is text.

A blank template evaluates to None, as in Elsa. A template that cannot be parsed is an error at compile time (Elsa
renders the parser's message instead). python-liquid is imported when the first template is compiled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.errors import ExpressionRefused, ExpressionSyntax, UnknownLanguage
from holdfast.expressions.budget import Budget, OutOfBounds, charge
from holdfast.expressions.failure import failed, out_of_bounds, quoted
from holdfast.expressions.plain_values import plain
from holdfast.model.scope import Names, Scope, facts_of, find, find_input
from holdfast.ports import CompiledExpression, CompiledScript

MAX_SOURCE = 50_000
DEFAULT_FUEL = 1_000_000


class LiquidEvaluator:
    language = "liquid"

    def __init__(self, *, fuel: int = DEFAULT_FUEL) -> None:
        self.fuel = fuel

    def compile(self, source: Any, names: Names) -> CompiledExpression:
        if not isinstance(source, str):
            raise ExpressionSyntax("a $liquid template is a text", language="liquid", source=str(source)[:200])
        if not source.strip():
            return CompiledExpression(lambda scope: None, constant=True)
        if len(source) > MAX_SOURCE:
            raise ExpressionRefused(
                f"{quoted(source)} has {len(source):,} characters; at most {MAX_SOURCE:,} are allowed.",
                language="liquid",
                source=source,
            )
        render = _template(source)
        fuel = self.fuel

        def evaluate(scope: Scope) -> str:
            budget = [fuel, 0]
            try:
                return render(_model(scope, budget), budget)
            except OutOfBounds as limit:
                raise out_of_bounds("liquid", source, str(limit)) from limit
            except Exception as error:
                raise failed("liquid", source, error) from error

        return CompiledExpression(evaluate)

    def compile_script(self, source: str, names: Names) -> CompiledScript:
        raise ExpressionRefused(
            "Liquid has templates but no scripts; use python or javascript.", language="liquid", source=str(source)
        )


def _template(source: str) -> Callable[[dict[str, Any], Budget], str]:
    try:
        from holdfast.expressions.liquid import templates
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.split(".")[0] != "liquid":
            raise
        raise UnknownLanguage(
            "Liquid templates need python-liquid: pip install holdfast[liquid].", language="liquid", source=source
        ) from missing
    return templates.compiled(source)


def _model(scope: Scope, budget: Budget) -> dict[str, Any]:
    """Top-level names of a template. Values are looked up on use."""
    facts = facts_of(scope)
    return {
        "Variables": _Lookup(scope, budget, variables=True),
        "Input": _Lookup(scope, budget, variables=False),
        "CorrelationId": facts.correlation_id,
        "WorkflowInstanceId": facts.id,
        "WorkflowDefinitionId": facts.definition_id,
        "WorkflowDefinitionVersionId": facts.definition_version_id,
        "WorkflowDefinitionVersion": facts.definition_version,
    }


class _Lookup(Mapping[str, Any]):
    """`Variables.X` or `Input.X`: plain values only, so that a template cannot reach host objects."""

    def __init__(self, scope: Scope, budget: Budget, *, variables: bool) -> None:
        self._scope = scope
        self._budget = budget
        self._variables = variables
        self._known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            place = None if self._variables else find_input(self._scope, name)
            place = place or find(self._scope, name)
            if place is None:
                raise KeyError(name)
            charge(self._budget, 10)
            self._known[name] = _shown(plain(place[0][place[1]]))
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class _Object(dict[str, Any]):
    """An object that renders as JSON."""

    def __str__(self) -> str:
        return json.dumps(self, separators=(",", ":"), ensure_ascii=False)


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return _Object({name: _shown(item) for name, item in value.items()})
    return [_shown(item) for item in value] if isinstance(value, list) else value
