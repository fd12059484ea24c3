"""Sandboxed Python: see `evaluator`."""

from holdfast.expressions.python.evaluator import PythonEvaluator

__all__ = ["PythonEvaluator"]
