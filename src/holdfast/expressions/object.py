"""`$object`: JSON text, parsed at compile time (Elsa's Object expressions). Its content stays data."""

from __future__ import annotations

import copy
import json
from typing import Any

from holdfast.errors import ExpressionRefused, ExpressionSyntax
from holdfast.expressions.failure import quoted
from holdfast.model.scope import Names
from holdfast.ports import CompiledExpression, CompiledScript

MAX_SOURCE = 1_000_000


class ObjectEvaluator:
    language = "object"

    def compile(self, source: Any, names: Names) -> CompiledExpression:
        """A value that is not text is used as it is; blank text is None. Each evaluation returns a separate copy."""
        value = _parsed(source) if isinstance(source, str) else source
        if isinstance(value, list | dict):
            return CompiledExpression(lambda scope: copy.deepcopy(value))
        return CompiledExpression(lambda scope: value, constant=True)

    def compile_script(self, source: str, names: Names) -> CompiledScript:
        raise ExpressionRefused("JSON is not a script; use python or javascript.", language="object", source=source)


def _parsed(source: str) -> Any:
    if not source.strip():
        return None
    if len(source) > MAX_SOURCE:
        raise ExpressionRefused(
            f"{quoted(source)} has {len(source):,} characters; at most {MAX_SOURCE:,} are allowed.",
            language="object",
            source=source,
        )
    try:
        return json.loads(source)
    except (ValueError, RecursionError) as error:
        raise ExpressionSyntax(f"{quoted(source)} is not JSON: {error}.", language="object", source=source) from None
