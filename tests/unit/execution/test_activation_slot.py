"""Activation strategies: which instances share a slot."""

from __future__ import annotations

import pytest

from holdfast.execution.activation_slot import Slot, no_slot, slot_rule
from holdfast.model.definition import ActivationStrategy, ActivityNode, Definition, DefinitionOptions
from holdfast.model.problem import Problem


def definition(id: str, strategy: str) -> Definition:
    return Definition(id=id, root=ActivityNode(id="a", type="A"), options=DefinitionOptions(activation=strategy))


def rule(id: str, strategy: str) -> Slot:
    problems: list[Problem] = []
    found = slot_rule(definition(id, strategy), {}, problems)
    assert not problems
    return found


def test_without_a_strategy_there_is_no_slot() -> None:
    assert rule("order", ActivationStrategy.ALWAYS) is no_slot
    assert no_slot("c-1") is None


@pytest.mark.parametrize(
    ("strategy", "same_definition", "same_correlation"),
    [
        (ActivationStrategy.SINGLETON, True, False),
        (ActivationStrategy.CORRELATION, False, True),
        (ActivationStrategy.CORRELATED_SINGLETON, True, True),
    ],
)
def test_a_slot_is_shared_within_a_definition_or_a_correlation(
    strategy: str, same_definition: bool, same_correlation: bool
) -> None:
    slot, other = rule("order", strategy), rule("refund", strategy)

    assert slot("c-1") == slot("c-1")
    assert (slot("c-1") != slot("c-2")) is same_correlation
    assert (slot("c-1") != other("c-1")) is same_definition


def test_a_strategy_of_a_plugin_names_the_slot_or_none() -> None:
    own = {"per-region": lambda _, correlation_id: correlation_id and correlation_id[:2]}
    slot = slot_rule(definition("order", "per-region"), own, [])

    assert slot("eu-1") == slot("eu-2") != slot("us-1")
    assert slot(None) is None


def test_an_unknown_strategy_is_a_problem_with_the_known_ones() -> None:
    problems: list[Problem] = []

    assert slot_rule(definition("order", "sometimes"), {"per-region": lambda *_: None}, problems) is no_slot
    assert "per-region" in problems[0].remedy
