"""`$javascript`: expressions and scripts with Elsa 3's functions.

The value is that of the last expression or of a top-level `return`; promises are awaited. Changes by a script
(variables, correlation id, name, outcomes) are collected while it runs and applied after it succeeds, so a failure
leaves nothing half done. A variable is written back only if it changed, so untouched typed values keep their type.

Programs run in child processes (`isolation`): the engine cannot stop native calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

from holdfast.errors import ExpressionError, ExpressionFailed, ExpressionRefused, ExpressionSyntax
from holdfast.expressions.failure import failed, out_of_bounds, quoted
from holdfast.expressions.isolation.children import Isolation
from holdfast.expressions.isolation.requests import Answer, CheckJavaScript, RunJavaScript, Verdict, to_bytes
from holdfast.expressions.javascript.engine import JsEngine, JsLimitReached, JsLimits, JsThrown, is_limit
from holdfast.expressions.javascript.outputs import recorded_output
from holdfast.expressions.javascript.prelude import around
from holdfast.expressions.javascript.references import References, Slot, references_of, slot_of
from holdfast.expressions.javascript.simple import Unsure, simple_expression
from holdfast.expressions.plain_values import from_js, to_js
from holdfast.model.scope import Names, Scope, facts_of, find, find_input, typed
from holdfast.ports import CompiledExpression, CompiledScript, ScriptResult

MAX_SOURCE = 100_000
_MAX_RERUNS = 16
"""Maximum number of re-runs to supply values that the script's text did not show."""
_GUIDS = 16
_KNOWN_MAX = 1_000
"""Texts whose form is remembered."""


class JavaScriptEvaluator:
    language = "javascript"

    def __init__(
        self, engine: JsEngine | None = None, limits: JsLimits | None = None, isolation: Isolation | None = None
    ) -> None:
        """`engine`: evaluates in this process, with an engine of one's own."""
        self.limits = limits or JsLimits()
        self._engine = engine
        self._isolation = isolation
        self._forms: dict[str, int] = {}

    def ask(self, request: RunJavaScript | CheckJavaScript) -> Answer:
        if self._isolation is None:
            from holdfast.expressions.isolation.inline import Inline, default_isolation

            self._isolation = default_isolation() if self._engine is None else Inline(self._engine)
        return self._isolation.ask(request)

    def compile(self, source: Any, names: Names) -> CompiledExpression:
        simple = simple_expression(source, partial(_reader, names)) if isinstance(source, str) else None
        if simple is not None:
            return self._simple(simple, source, names)
        script = self._prepared(source, names, is_script=False)
        return CompiledExpression(lambda scope: script.run(scope).value, script.reads(), waits=True)

    def _simple(self, simple: Callable[[Scope], Any], source: str, names: Names) -> CompiledExpression:
        """Evaluated here. Cases that need the engine are evaluated by it; the text is known to be JavaScript."""
        script = _Script(self, source, source, references_of(source, names, is_script=False))

        def evaluate(scope: Scope) -> Any:
            try:
                return simple(scope)
            except Unsure:
                return script.run(scope).value

        return CompiledExpression(evaluate, script.reads(), waits=True)

    def compile_script(self, source: str, names: Names) -> CompiledScript:
        return CompiledScript(self._prepared(source, names, is_script=True).run, waits=True)

    def _prepared(self, source: Any, names: Names, *, is_script: bool) -> _Script:
        if not isinstance(source, str):
            raise ExpressionSyntax(
                "a $javascript expression is a text", language="javascript", source=str(source)[:200]
            )
        if len(source) > MAX_SOURCE:
            raise ExpressionRefused(
                f"{quoted(source)} has {len(source):,} characters; at most {MAX_SOURCE:,} are allowed.",
                language="javascript",
                source=source,
            )
        return _Script(self, source, self._program(source), references_of(source, names, is_script=is_script))

    def _program(self, source: str) -> str:
        """The text to run: unchanged, or as the body of a function if it has a top-level `return` or `await`.

        A text that closes the function and opens another one gains nothing: the sandbox around it is the same.
        """
        forms = (source, f"(function () {{\n{source}\n}})()", f"(async function () {{\n{source}\n}})()")
        if source not in self._forms:
            if len(self._forms) >= _KNOWN_MAX:
                self._forms.clear()
            self._forms[source] = self._form(source, forms)
        return forms[self._forms[source]]

    def _form(self, source: str, forms: tuple[str, ...]) -> int:
        limits = self.limits
        answer = self.ask(
            CheckJavaScript(
                tuple(map(to_bytes, forms)),
                1 if "return" in source else 0,
                limits.time.total_seconds(),
                limits.memory,
                limits.stack,
            )
        )
        if answer.verdict is Verdict.VALUE:
            return int(answer.text)
        if answer.verdict is Verdict.LIMIT:
            raise out_of_bounds("javascript", source, answer.message)
        raise ExpressionSyntax(
            f"{quoted(source)} is not JavaScript: {answer.message}.", language="javascript", source=source
        )


class _Script:
    """One script at one place of a definition."""

    def __init__(self, owner: JavaScriptEvaluator, source: str, program: str, references: References) -> None:
        self.owner = owner
        self.source = source
        self.program = program
        self.references = references
        self.around = to_bytes(around(references.functions, references.wrappers))

    def reads(self) -> tuple[tuple[str, Any], ...]:
        slots = {**self.references.variables, **self.references.inputs}
        return tuple((name, lambda scope, slot=slot: _read(scope, slot)) for name, slot in list(slots.items())[:8])

    def run(self, scope: Scope) -> ScriptResult:
        try:
            left = self._evaluated(scope)
            return self._applied(scope, left)
        except JsLimitReached as limit:
            raise out_of_bounds("javascript", self.source, str(limit)) from None
        except ExpressionError:
            raise
        except Exception as error:
            raise failed("javascript", self.source, error) from error

    def _evaluated(self, scope: Scope) -> dict[str, Any]:
        given = self._given(scope)
        left_seconds = self.owner.limits.time.total_seconds()
        for _ in range(_MAX_RERUNS):
            answer, used = self._run_once(given, left_seconds)
            if not answer["needs"]:
                break
            left_seconds -= used
            if left_seconds <= 0:
                raise JsLimitReached("it takes too long")
            self._supply(scope, given, answer["needs"])
        else:
            raise JsLimitReached("it reads too many values by names computed at run time")
        error = answer.get("error")
        if error is None:
            left: dict[str, Any] = answer["left"]
            return left
        if error == "null":
            raise JsLimitReached("it needs too much memory (or it threw null, which the engine does in that case)")
        if is_limit(str(error)):
            raise JsLimitReached("it needs too much memory or recurses too deeply")
        message = f"{quoted(self.source)} failed: {str(error)[:300]}"
        raise ExpressionFailed(message, language="javascript", source=self.source)

    def _run_once(self, given: dict[str, Any], seconds: float) -> tuple[dict[str, Any], float]:
        """The answer of one run, and its processor time. All runs of an evaluation share one limit."""
        limits = self.owner.limits
        found = self.owner.ask(
            RunJavaScript(
                self.around, json.dumps(given).encode(), to_bytes(self.program), seconds, limits.memory, limits.stack
            )
        )
        if found.verdict is Verdict.LIMIT:
            raise JsLimitReached(found.message)
        if found.verdict is not Verdict.VALUE:
            raise JsThrown(found.message)
        answer = json.loads(found.text)
        if not isinstance(answer, dict) or not isinstance(answer.get("needs"), list):
            raise JsThrown("it broke the functions that return its result")
        return answer, found.seconds

    # -- inputs --------------------------------------------------------------------------------------------------------

    def _given(self, scope: Scope) -> dict[str, Any]:
        found = self.references
        if not found.functions:
            return {}
        facts = facts_of(scope)
        return {
            "variables": {name: to_js(_read(scope, slot)) for name, slot in found.variables.items()},
            "missing": [],
            "inputs": {name: to_js(_read(scope, slot)) for name, slot in found.inputs.items()},
            "outputs": {_key(pair): _output(scope, *pair) for pair in found.outputs},
            "guids": [str(uuid4())] if b"newGuid" in self.around else [],
            "last": to_js(facts.last_result) if "getLastResult" in found.functions else None,
            "facts": {
                "id": facts.id,
                "name": facts.name,
                "correlation_id": facts.correlation_id,
                "definition_id": facts.definition_id,
                "definition_version": facts.definition_version,
                "definition_version_id": facts.definition_version_id,
            },
        }

    def _supply(self, scope: Scope, given: dict[str, Any], needs: list[Any]) -> None:
        """Add the values that the script requested by names its text did not show."""
        for kind, *names in needs:
            if kind == "variable":
                self._supply_variable(scope, given, names[0])
            elif kind == "input":
                place = find_input(scope, names[0]) or find(scope, names[0])
                given["inputs"][names[0]] = to_js(None if place is None else place[0][place[1]])
            elif kind == "output":
                given["outputs"][_key(names)] = _output(scope, names[0], names[1])
            elif kind == "guids":
                given["guids"] = [str(uuid4()) for _ in range(_GUIDS + 4 * len(given["guids"]))]

    def _supply_variable(self, scope: Scope, given: dict[str, Any], name: str) -> None:
        place = find(scope, name)
        if place is None:
            given["missing"].append(name)
        else:
            given["variables"][name] = to_js(place[0][place[1]])

    # -- results -------------------------------------------------------------------------------------------------------

    def _applied(self, scope: Scope, left: dict[str, Any]) -> ScriptResult:
        written = left.get("writes", {}).items()
        targets = [(*self._target(scope, name), from_js(pair)) for name, pair in written]
        writes = [(level, index, typed(level, index, new)) for level, index, new in targets]
        outcomes = tuple(left["outcomes"]) if "outcomes" in left else None
        value = from_js(left["result"])
        for level, index, new in writes:
            level[index] = new
        facts = facts_of(scope)
        if "correlation" in left:
            facts.correlation_id = left["correlation"]
        if "name" in left:
            facts.name = left["name"]
        return ScriptResult(value, outcomes)

    def _target(self, scope: Scope, name: str) -> tuple[Scope, int]:
        place = find(scope, name)
        if place is None:
            raise LookupError(f"there is no variable '{name}' to set; declare it on the workflow or a container")
        return place


def _reader(names: Names, kind: str, name: str) -> Callable[[Scope], Any] | None:
    slot = slot_of(kind, name, names)
    return None if slot is None else partial(_read, slot=slot)


def _read(scope: Scope, slot: Slot) -> Any:
    hops, index = slot
    for _ in range(hops):
        scope = scope[0]
    return scope[index]


def _key(names: Sequence[Any]) -> str:
    return json.dumps(list(names), separators=(",", ":"), ensure_ascii=False)


def _output(scope: Scope, activity: str, output: str | None) -> list[Any]:
    try:
        return to_js(recorded_output(facts_of(scope), activity, output))
    except LookupError as error:
        return ["error", str(error)]
