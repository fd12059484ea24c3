"""Conditions: truth of values, and the values that the journal records for a decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.execution.journal import seen
from holdfast.model.scope import Scope
from holdfast.ports import CompiledExpression

_FALSE_TEXT = frozenset({"", "false", "0", "no", "off"})


def truth(value: Any) -> bool:
    """Python's truth value, except for text.

    Text such as `"false"`, `"0"` and `"no"` is false, as in documents of other systems.
    """
    if value.__class__ is bool:
        return bool(value)
    if isinstance(value, str):
        return value.strip().lower() not in _FALSE_TEXT
    return bool(value)


def decide(condition: CompiledExpression) -> Callable[[Scope], tuple[bool, dict[str, Any]]]:
    """Compile a condition to a function that returns the answer and the values it read."""
    evaluate = condition.evaluate

    def decided(scope: Scope) -> tuple[bool, dict[str, Any]]:
        value = evaluate(scope)
        return value is True or (value is not False and truth(value)), seen(condition, scope)

    return decided


def chosen(answers: list[bool], mode: str) -> list[int]:
    """Positions of the matching cases: the first one, or all of them."""
    matches = [position for position, answer in enumerate(answers) if answer]
    return matches if mode == "match_any" else matches[:1]
