"""`$literal`: a value that is never evaluated."""

from __future__ import annotations

from typing import Any

from holdfast.errors import ExpressionRefused
from holdfast.model.scope import Names
from holdfast.ports import CompiledExpression, CompiledScript


class LiteralEvaluator:
    language = "literal"

    def compile(self, source: Any, names: Names) -> CompiledExpression:
        return CompiledExpression(lambda scope: source, constant=True)

    def compile_script(self, source: str, names: Names) -> CompiledScript:
        raise ExpressionRefused(
            "A literal is not a script; use python or javascript.", language="literal", source=source
        )
