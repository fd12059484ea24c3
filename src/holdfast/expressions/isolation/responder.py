"""Evaluation of one request: runs in a child process, or in this process where there are no children."""

from __future__ import annotations

import time

from msgspec.structs import replace

from holdfast.expressions.isolation.requests import (
    Answer,
    CheckJavaScript,
    CheckLiquid,
    RenderLiquid,
    Request,
    RunJavaScript,
    Verdict,
    to_bytes,
)
from holdfast.expressions.javascript import program
from holdfast.expressions.javascript.engine import JsEngine
from holdfast.expressions.javascript.prepared import PreparedContexts


class Responder:
    """Answers requests one after the other. Only prepared JavaScript contexts and compiled templates stay between them."""

    def __init__(self, engine: JsEngine) -> None:
        self._contexts = PreparedContexts(engine)

    def answer(self, request: Request) -> Answer:
        """The answer. Errors of the evaluation are answers, never raised."""
        begun = time.process_time()
        try:
            found = self._evaluated(request)
        except MemoryError:
            found = Answer(Verdict.LIMIT, b"it needs too much memory; process less data")
        except RecursionError:
            found = Answer(Verdict.LIMIT, b"it is nested too deeply; simplify it")
        except Exception as error:  # noqa: BLE001 - any error of an evaluation is its answer
            found = Answer(Verdict.FAILED, to_bytes(str(error)[:300] or type(error).__name__))
        return replace(found, seconds=time.process_time() - begun)

    def prepare(self) -> None:
        """Work ahead for the next request, while no caller waits."""
        self._contexts.refill()

    def _evaluated(self, request: Request) -> Answer:
        if isinstance(request, RunJavaScript):
            return program.run(request, self._contexts)
        if isinstance(request, CheckJavaScript):
            return program.check(request, self._contexts)
        return _liquid(request)


def _liquid(request: RenderLiquid | CheckLiquid) -> Answer:
    from holdfast.expressions.liquid import render  # The library is optional.

    return render.rendered(request) if isinstance(request, RenderLiquid) else render.checked(request)
