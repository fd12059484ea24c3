"""JavaScript contexts that are made ahead: while no caller waits, for the programs that ran last.

A context serves one evaluation. Making one and parsing the code around the program takes four times as long as the
evaluation of a short program.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from holdfast.expressions.javascript.engine import JsContext, JsEngine, JsLimits

PROGRAMS_MAX = 8
"""Programs with a context ahead."""

Prepared = tuple[JsContext, Any]


class PreparedContexts:
    def __init__(self, engine: JsEngine) -> None:
        self.engine = engine
        self._ready: OrderedDict[bytes, Prepared | None] = OrderedDict()

    def take(self, around: bytes, limits: JsLimits) -> Prepared:
        """A fresh context with the function that runs a program; see `prelude`."""
        found = self._ready.pop(around, None)
        self._ready[around] = None
        if found is None:
            return self._made(around, limits)
        found[0].restart(limits)
        return found

    def refill(self) -> None:
        """Make the contexts that were taken."""
        while len(self._ready) > PROGRAMS_MAX:
            self._ready.popitem(last=False)
        for around, found in self._ready.items():
            if found is None:
                self._ready[around] = self._made(around, JsLimits())

    def _made(self, around: bytes, limits: JsLimits) -> Prepared:
        context = self.engine.context(limits)
        return context, context.evaluate(around.decode())
