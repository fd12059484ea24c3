"""Activation strategies: the slot that an instance needs before it can start."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from holdfast.model.definition import ActivationStrategy, Definition
from holdfast.model.guard import Guard, activation_slot
from holdfast.model.problem import Problem
from holdfast.ports import ActivationRule

Slot = Callable[[str | None], Guard | None]


def no_slot(correlation_id: str | None) -> Guard | None:
    """Slot rule of definitions without an activation strategy."""
    return None


def slot_rule(definition: Definition, own: Mapping[str, ActivationRule], problems: list[Problem]) -> Slot:
    """Value of `Plan.slot` for a definition."""
    name = definition.options.activation
    if name == ActivationStrategy.ALWAYS:
        return no_slot
    if name in list(ActivationStrategy):
        by_definition = name != ActivationStrategy.CORRELATION
        by_correlation = name != ActivationStrategy.SINGLETON
        return lambda correlation_id: activation_slot(
            strategy=name,
            definition_id=definition.id if by_definition else "",
            correlation_id=(correlation_id or "") if by_correlation else "",
        )
    rule = own.get(name)
    if rule is None:
        known = ", ".join([*ActivationStrategy, *own])
        problems.append(
            Problem(
                path="/options/activation",
                code="unknown-strategy",
                message=f"Unknown activation strategy '{name}'.",
                remedy=f"Known: {known}. Plugins can register more.",
            )
        )
        return no_slot

    def slot_for(correlation_id: str | None) -> Guard | None:
        found = rule(definition, correlation_id)
        return None if found is None else activation_slot(strategy=name, definition_id=found)

    return slot_for
