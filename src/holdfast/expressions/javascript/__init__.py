"""JavaScript with Elsa 3's functions: see `evaluator`."""

from holdfast.expressions.javascript.evaluator import JavaScriptEvaluator

__all__ = ["JavaScriptEvaluator"]
