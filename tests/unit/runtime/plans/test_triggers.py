"""Triggers of a definition: index rows for stimuli that start it and for events that it waits for, and precise problems."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Holdfast, Workflow, expr
from holdfast.activities import Event, Sequence, WriteLine
from holdfast.errors import InvalidDefinition
from holdfast.model.catalog import DefinitionVersion
from holdfast.model.requests import EVENT
from holdfast.model.values import TypeRegistry
from holdfast.model.wake_keys import key_of
from holdfast.runtime.payload_codec import decode_payload
from holdfast.runtime.plans.triggers import AWAITED, awaited_key, awaited_rows, trigger_rows, triggers_of
from holdfast.testing.store_rows import AT

ENGINE = Holdfast(entry_points=False)
LABEL = DefinitionVersion(tenant="acme", definition_id="order", version=3, content="c", created=AT)


def definition(*body: Any, **more: Any) -> Any:
    return Workflow(Sequence(*body), id="order", **more).definition


def problem(*body: Any, **more: Any) -> Any:
    with pytest.raises(InvalidDefinition) as caught:
        triggers_of(definition(*body, **more), ENGINE)
    (found,) = caught.value.problems
    return found


def test_a_trigger_is_indexed_with_its_evaluated_inputs() -> None:
    found = definition(Event(expr("'pa' + 'id'"), can_start=True, id="start"), Event("shipped"))
    row = next(row for row in trigger_rows(found, ENGINE, LABEL) if row.type != AWAITED)

    assert (row.tenant, row.definition_id, row.version, row.content) == ("acme", "order", 3, "c")
    assert (row.id, row.activity_id, row.type) == ("start.0", "start", "Event")
    assert row.key == key_of("Event", {"event_name": "paid"})
    assert decode_payload(row.payload, TypeRegistry()) == {"event_name": "paid"}


def test_an_activity_without_can_start_is_no_trigger() -> None:
    assert triggers_of(definition(Event("paid")), ENGINE) == []


def test_an_activity_that_is_no_trigger_cannot_start() -> None:
    found = problem(WriteLine("a", can_start=True, id="line"))

    assert (found.code, found.path) == ("no-trigger", "/root/activities/0/can_start")


def test_an_input_that_needs_an_instance_is_a_problem() -> None:
    found = problem(Event(expr("name"), can_start=True, id="start"), variables={"name": "paid"})

    assert (found.code, found.path) == ("trigger-input", "/root/activities/0/inputs")
    assert "cannot be indexed" in found.message


def test_all_problems_are_named_at_once() -> None:
    with pytest.raises(InvalidDefinition) as caught:
        triggers_of(definition(WriteLine("a", can_start=True), Event(expr("gone"), can_start=True)), ENGINE)

    assert [item.code for item in caught.value.problems] == ["no-trigger", "trigger-input"]


def test_events_that_a_definition_waits_for_are_indexed_once() -> None:
    found = definition(Event("paid"), Event("paid", id="again"), Event("shipped"), WriteLine("a"))
    rows = awaited_rows(found, ENGINE, LABEL)

    assert {row.key for row in rows} == {awaited_key(EVENT, "paid"), awaited_key(EVENT, "shipped")}
    assert [row.id for row in rows] == ["~0", "~1"]
    assert {row.type for row in rows} == {AWAITED}


def test_an_event_with_a_computed_name_may_be_any_event() -> None:
    found = definition(Event(expr("name")), variables={"name": "paid"})

    assert [row.key for row in awaited_rows(found, ENGINE, LABEL)] == [awaited_key(EVENT)]
