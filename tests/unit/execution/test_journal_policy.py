"""Journal rules: the activity's rule, then the definition's, then the engine's; and what an entry keeps."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.execution.journal_policy import EXCLUDE, INCLUDE, OFF, NodeRule, permitted, rule_of
from holdfast.model.definition import ActivityNode
from holdfast.model.instance import JournalEvent
from holdfast.model.policy import ActivityOptions, JournalRule


def node(journal: JournalRule | None = None) -> ActivityNode:
    return ActivityNode(id="a", type="A", options=ActivityOptions(journal=journal))


def entry(event: JournalEvent, data: Any) -> Any:
    return (event, 7, 1, 0, data)


@pytest.mark.parametrize(
    ("own", "of_definition", "of_engine", "expected"),
    [
        (None, None, INCLUDE, None),
        (None, None, EXCLUDE, EXCLUDE),
        (None, OFF, INCLUDE, OFF),
        (JournalRule(default=INCLUDE), OFF, EXCLUDE, None),
    ],
)
def test_the_nearest_rule_counts(
    own: JournalRule | None, of_definition: str | None, of_engine: str, expected: str | None
) -> None:
    found = rule_of(node(own), of_definition, of_engine)

    assert (found.default if found is not None else None) == expected


def test_a_rule_for_one_input_is_a_rule() -> None:
    found = rule_of(node(JournalRule(inputs={"card": EXCLUDE})), None, INCLUDE)

    assert found is not None
    assert found.inputs == {"card": EXCLUDE}


def test_an_excluded_input_is_left_out_and_facts_stay() -> None:
    rules = {7: NodeRule(default=INCLUDE, inputs={"card": EXCLUDE})}
    kept = permitted(rules, [entry(JournalEvent.STARTED, {"inputs": {"card": "1234", "sum": 5}, "attempt": 2})])

    assert kept[0][4] == {"inputs": {"sum": 5}, "attempt": 2}


def test_without_values_only_facts_are_kept() -> None:
    rules = {7: NodeRule(default=EXCLUDE)}
    kept = permitted(
        rules, [entry(JournalEvent.COMPLETED, {"outcome": "Done", "result": 5}), entry(JournalEvent.STARTED, 1)]
    )

    assert [item[4] for item in kept] == [{"outcome": "Done"}, None]


def test_off_keeps_faults_only() -> None:
    rules = {7: NodeRule(default=OFF)}
    kept = permitted(rules, [entry(JournalEvent.STARTED, None), entry(JournalEvent.FAULTED, {"type": "ValueError"})])

    assert [item[0] for item in kept] == [JournalEvent.FAULTED]


def test_without_rules_everything_is_kept() -> None:
    entries = [entry(JournalEvent.STARTED, {"inputs": {"card": "1234"}})]

    assert permitted({}, entries) == entries
