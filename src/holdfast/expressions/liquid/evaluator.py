"""`$liquid`: text templates with `Variables.X`, `Input.X`, `CorrelationId` and Elsa's filters. The result is text.

A blank template evaluates to None, as in Elsa. A template that cannot be parsed is an error at compile time (Elsa
renders the parser's message instead). Templates are parsed and rendered in child processes (`isolation`), because the
library's lexer and some filters take more than linear time; only `plain_template` renders here.
"""

from __future__ import annotations

import json
import re
from datetime import timedelta
from importlib.util import find_spec
from typing import Any

from holdfast.errors import ExpressionError, ExpressionFailed, ExpressionRefused, ExpressionSyntax, UnknownLanguage
from holdfast.expressions.failure import failed, out_of_bounds, quoted
from holdfast.expressions.isolation.children import Isolation
from holdfast.expressions.isolation.requests import Answer, CheckLiquid, RenderLiquid, Verdict, to_bytes
from holdfast.expressions.liquid.plain_template import Part, plain_parts, render_plain
from holdfast.expressions.plain_values import plain
from holdfast.model.scope import Names, Scope, facts_of, find, find_input
from holdfast.ports import CompiledExpression, CompiledScript

MAX_SOURCE = 50_000
DEFAULT_FUEL = 1_000_000
DEFAULT_TIME = timedelta(seconds=1)
"""Processor time of one rendering."""
_MAX_RERUNS = 16
"""Maximum number of re-runs to supply values that the template's text did not show."""
_CHECKED_MAX = 1_000
"""Templates that are remembered as correct."""
_NAMED = re.compile(r"(Variables|Input)\.([A-Za-z_][A-Za-z0-9_]*)")


class LiquidEvaluator:
    language = "liquid"

    def __init__(
        self, *, fuel: int = DEFAULT_FUEL, time: timedelta = DEFAULT_TIME, isolation: Isolation | None = None
    ) -> None:
        self.fuel = fuel
        self.time = time
        self._isolation = isolation
        self._checked: set[str] = set()

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
        if find_spec("liquid") is None:
            raise UnknownLanguage(
                "Liquid templates need python-liquid: pip install holdfast[liquid].", language="liquid", source=source
            )
        parts = plain_parts(source)
        if parts is None:
            self._check(source)
        template = _Template(self, source, parts)
        return CompiledExpression(template.evaluate, waits=True)

    def compile_script(self, source: str, names: Names) -> CompiledScript:
        raise ExpressionRefused(
            "Liquid has templates but no scripts; use python or javascript.", language="liquid", source=str(source)
        )

    def ask(self, request: CheckLiquid | RenderLiquid, source: str) -> Answer:
        if self._isolation is None:
            from holdfast.expressions.isolation.inline import default_isolation

            self._isolation = default_isolation()
        answer = self._isolation.ask(request)
        if answer.verdict is Verdict.LIMIT:
            raise out_of_bounds("liquid", source, answer.message)
        return answer

    def _check(self, source: str) -> None:
        """Raise if the text is not Liquid."""
        if source in self._checked:
            return
        answer = self.ask(CheckLiquid(to_bytes(source), self.time.total_seconds()), source)
        if answer.verdict is Verdict.REFUSED:
            raise ExpressionRefused(answer.message, language="liquid", source=source)
        if answer.verdict is not Verdict.VALUE:
            raise ExpressionSyntax(answer.message, language="liquid", source=source)
        if len(self._checked) >= _CHECKED_MAX:
            self._checked.clear()
        self._checked.add(source)


class _Template:
    """One template at one place of a definition."""

    def __init__(self, owner: LiquidEvaluator, source: str, parts: tuple[Part, ...] | None) -> None:
        self.owner = owner
        self.source = source
        self.parts = parts
        self.named = tuple(dict.fromkeys((_KINDS[root], name) for root, name in _NAMED.findall(source)))

    def evaluate(self, scope: Scope) -> str:
        try:
            if self.parts is not None:
                text = render_plain(self.parts, lambda root, name: _value(scope, _KINDS[root], name)[1])
                if text is not None:
                    return text
            return self._rendered(scope)
        except ExpressionError:
            raise
        except Exception as error:
            raise failed("liquid", self.source, error) from error

    def _rendered(self, scope: Scope) -> str:
        given = _given(scope)
        for kind, name in self.named:
            _supply(scope, given, kind, name)
        seconds = self.owner.time.total_seconds()
        for _ in range(_MAX_RERUNS):
            if seconds <= 0:
                raise out_of_bounds("liquid", self.source, "it takes too long")
            request = RenderLiquid(to_bytes(self.source), json.dumps(given).encode(), self.owner.fuel, seconds)
            answer = self.owner.ask(request, self.source)
            if answer.verdict is not Verdict.VALUE:
                message = f"{quoted(self.source)} failed: {answer.message}"
                raise ExpressionFailed(message, language="liquid", source=self.source)
            found = json.loads(answer.text)
            if "text" in found:
                return str(found["text"])
            seconds -= answer.seconds
            _supply(scope, given, *map(str, found["needs"]))
        raise out_of_bounds("liquid", self.source, "it reads too many values by names computed at run time")


_KINDS = {"Variables": "variables", "Input": "inputs"}


def _given(scope: Scope) -> dict[str, Any]:
    facts = facts_of(scope)
    return {
        "variables": {},
        "inputs": {},
        "absent": {"variables": [], "inputs": []},
        "facts": {
            "CorrelationId": facts.correlation_id,
            "WorkflowInstanceId": facts.id,
            "WorkflowDefinitionId": facts.definition_id,
            "WorkflowDefinitionVersionId": facts.definition_version_id,
            "WorkflowDefinitionVersion": facts.definition_version,
        },
    }


def _supply(scope: Scope, given: dict[str, Any], kind: str, name: str) -> None:
    found, value = _value(scope, kind, name)
    if found:
        given[kind][name] = value
    else:
        given["absent"][kind].append(name)


def _value(scope: Scope, kind: str, name: str) -> tuple[bool, Any]:
    """Whether there is such a value, and the value: plain, so that a template cannot reach host objects."""
    place = find_input(scope, name) if kind == "inputs" else None
    place = place or find(scope, name)
    return (False, None) if place is None else (True, plain(place[0][place[1]]))
