"""Evaluation in this process: for platforms without `fork`, and for engines of one's own. Native calls are not limited."""

from __future__ import annotations

import os

from holdfast.expressions.isolation.children import Isolation, shared_children
from holdfast.expressions.isolation.requests import Answer, Request
from holdfast.expressions.isolation.responder import Responder
from holdfast.expressions.javascript.engine import JsEngine, QuickJs


class Inline:
    def __init__(self, engine: JsEngine | None = None) -> None:
        self._responder = Responder(engine or QuickJs())

    def ask(self, request: Request) -> Answer:
        return self._responder.answer(request)


def default_isolation() -> Isolation:
    return shared_children() if hasattr(os, "fork") else Inline()
