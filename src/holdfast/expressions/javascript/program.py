"""Evaluation of a JavaScript program and check of its syntax, as a child process does it."""

from __future__ import annotations

from holdfast.expressions.isolation.requests import Answer, CheckJavaScript, RunJavaScript, Verdict, to_bytes, to_text
from holdfast.expressions.javascript.engine import JsLimitReached, JsLimits, JsThrown
from holdfast.expressions.javascript.prelude import TOOLS
from holdfast.expressions.javascript.prepared import PreparedContexts


def run(request: RunJavaScript, contexts: PreparedContexts) -> Answer:
    """The answer of the prelude: JSON text."""
    try:
        context, start = contexts.take(request.around, _limits(request))
        text = context.call(start, to_text(request.given), to_text(request.program), TOOLS)
        if not isinstance(text, str):
            context.settle()
            text = context.call(text)
        return Answer(Verdict.VALUE, to_bytes(str(text)))
    except JsLimitReached as limit:
        return Answer(Verdict.LIMIT, to_bytes(str(limit)))
    except JsThrown as thrown:
        return Answer(Verdict.FAILED, to_bytes(str(thrown)))


def check(request: CheckJavaScript, contexts: PreparedContexts) -> Answer:
    limits = _limits(request)
    try:
        problems = [_problem(contexts, limits, to_text(form)) for form in request.forms]
    except JsLimitReached as limit:  # Never a reason to choose another form: that would change the value.
        return Answer(Verdict.LIMIT, to_bytes(str(limit)))
    if None in problems:
        return Answer(Verdict.VALUE, str(problems.index(None)).encode())
    return Answer(Verdict.SYNTAX, to_bytes(str(problems[request.chosen])))


def _problem(contexts: PreparedContexts, limits: JsLimits, text: str) -> str | None:
    """Parse without running: the first statement throws."""
    try:
        contexts.engine.context(limits).evaluate(f"throw 0;\n{text}")
    except JsLimitReached:
        raise
    except JsThrown as thrown:
        return str(thrown).removeprefix("SyntaxError: ") if str(thrown).startswith("SyntaxError") else None
    return None


def _limits(request: RunJavaScript | CheckJavaScript) -> JsLimits:
    return JsLimits.of_seconds(request.seconds, memory=request.memory, stack=request.stack)
