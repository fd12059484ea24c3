"""Conditions: what counts as true, and what the journal keeps of a decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.execution.journal import seen
from holdfast.model.scope import Scope
from holdfast.ports import CompiledExpression

_FALSE_TEXT = frozenset({"", "false", "0", "no", "off"})


def truth(value: Any) -> bool:
    """Python's truth, but text says what it reads: `"false"` is false, as in documents of other systems."""
    if value.__class__ is bool:
        return bool(value)
    if isinstance(value, str):
        return value.strip().lower() not in _FALSE_TEXT
    return bool(value)


def decide(condition: CompiledExpression) -> Callable[[Scope], tuple[bool, dict[str, Any]]]:
    """Evaluates a condition: the answer, and the values that it saw."""
    evaluate = condition.evaluate

    def decided(scope: Scope) -> tuple[bool, dict[str, Any]]:
        value = evaluate(scope)
        return value is True or (value is not False and truth(value)), seen(condition, scope)

    return decided


def chosen(answers: list[bool], mode: str) -> list[int]:
    """Positions of the matching cases: the first, or all of them."""
    matches = [position for position, answer in enumerate(answers) if answer]
    return matches if mode == "match_any" else matches[:1]
