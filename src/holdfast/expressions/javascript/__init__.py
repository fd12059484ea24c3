"""JavaScript as Elsa 3 writes it: see `evaluator`."""

from holdfast.expressions.javascript.evaluator import JavaScriptEvaluator

__all__ = ["JavaScriptEvaluator"]
