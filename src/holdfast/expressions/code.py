"""`$code`: trusted Python code that the code provider of this process wrote into a definition.

Documents cannot contain it.

It is only valid inside a `Function`, whose scope defines its names (`execution/frames.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.errors import ExpressionRefused
from holdfast.execution.frames import FrameShape, make_function
from holdfast.model.scope import Names, Scope
from holdfast.ports import CompiledExpression, CompiledScript, ScriptResult


class CodeEvaluator:
    language = "code"

    def compile(self, source: Any, names: Names) -> CompiledExpression:
        return CompiledExpression(_function(source, names))

    def compile_script(self, source: str, names: Names) -> CompiledScript:
        function = _function(source, names)
        return CompiledScript(lambda scope: ScriptResult(value=function(scope)))


def _function(source: Any, names: Names) -> Callable[[Scope], Any]:
    shape = names.shapes[0] if names.shapes else None
    if not isinstance(shape, FrameShape):
        raise ExpressionRefused(
            "'$code' is only valid inside a workflow written as a Python function.",
            language="code",
            source=str(source)[:200],
        )
    return make_function(str(source), shape)
