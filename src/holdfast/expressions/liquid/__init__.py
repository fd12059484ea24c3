"""Liquid templates: see `evaluator`."""

from holdfast.expressions.liquid.evaluator import LiquidEvaluator

__all__ = ["LiquidEvaluator"]
