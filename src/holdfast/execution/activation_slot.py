"""Activation strategies: which place an instance needs before it may start."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from holdfast.model.definition import ActivationStrategy, Definition
from holdfast.model.guard import Guard, activation_slot
from holdfast.model.problem import Problem
from holdfast.ports import ActivationRule

Slot = Callable[[str | None], Guard | None]


def nowhere(correlation_id: str | None) -> Guard | None:
    """Instances that need no place."""
    return None


def slot_rule(definition: Definition, own: Mapping[str, ActivationRule], problems: list[Problem]) -> Slot:
    """What `Plan.slot` is for a definition."""
    name = definition.options.activation
    if name == ActivationStrategy.ALWAYS:
        return nowhere
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
                message=f"There is no activation strategy '{name}'.",
                remedy=f"Known: {known}. Others are registered by a plugin.",
            )
        )
        return nowhere

    def place(correlation_id: str | None) -> Guard | None:
        found = rule(definition, correlation_id)
        return None if found is None else activation_slot(strategy=name, definition_id=found)

    return place
