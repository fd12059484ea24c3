"""Built-in expression languages.

Creating the evaluators imports neither the JavaScript engine nor the template library.
"""

from __future__ import annotations

from holdfast.expressions.code import CodeEvaluator
from holdfast.expressions.javascript import JavaScriptEvaluator
from holdfast.expressions.liquid import LiquidEvaluator
from holdfast.expressions.literal import LiteralEvaluator
from holdfast.expressions.object import ObjectEvaluator
from holdfast.expressions.python import PythonEvaluator
from holdfast.expressions.reference import InputEvaluator, VariableEvaluator
from holdfast.ports import ExpressionEvaluator

__all__ = ["standard_evaluators"]


def standard_evaluators() -> dict[str, ExpressionEvaluator]:
    """Evaluators by language name, as written after the `$` in JSON."""
    evaluators: list[ExpressionEvaluator] = [
        PythonEvaluator(),
        JavaScriptEvaluator(),
        LiquidEvaluator(),
        LiteralEvaluator(),
        VariableEvaluator(),
        InputEvaluator(),
        ObjectEvaluator(),
        CodeEvaluator(),
    ]
    return {evaluator.language: evaluator for evaluator in evaluators}
