"""Every built-in activity × every journal mode: the record of an execution has its inputs, exactly as the rule says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.execution import delivery
from holdfast.execution.journal import readable
from holdfast.execution.segment import Limits, run_segment
from holdfast.model.descriptor import Kind
from holdfast.model.replies import OPEN_REQUESTS
from holdfast.model.values import shown
from holdfast.server.views.journal import executions_of
from tests.support.journaled_inputs import (
    DECIDE_OUTCOMES,
    FAULTS,
    NEEDS_REQUEST,
    NEEDS_RUNTIME,
    SAMPLES,
    SECRET,
    STRUCTURE,
    document,
)


@pytest.fixture
def engine(make_engine: Any) -> Holdfast:
    made: Holdfast = make_engine()
    return made


def test_every_built_in_activity_with_inputs_has_a_sample(engine: Holdfast) -> None:
    pure = {
        name
        for name, item in engine.descriptors.items()
        if item.inputs and item.kind is Kind.PURE and item.category != "Code"
    }

    assert pure == {*SAMPLES, *STRUCTURE, *FAULTS}


def journal_of(engine: Holdfast, type_name: str, rule: dict[str, Any]) -> tuple[Any, str]:
    """Inputs of the execution, and the whole journal as text."""
    plan = engine.plan(document(type_name, rule))
    live = delivery.start(plan, id="i", now=engine.clock.now_ns, services=engine.services, inputs={})
    if type_name in NEEDS_REQUEST:
        live.properties = {OPEN_REQUESTS: ["r"]}
    live.defers_steps = type_name in NEEDS_RUNTIME
    run_segment(live, Limits())
    journal = readable(plan, live.journal, 0)
    records = [item for item in executions_of(journal) if item.activity_id == "it"]
    return records[0].inputs if records else None, json.dumps([shown(entry.data) for entry in journal])


@pytest.mark.parametrize("type_name", SAMPLES)
def test_included_inputs_are_in_the_record(engine: Holdfast, type_name: str) -> None:
    name, _ = SAMPLES[type_name]
    for rule in ({}, {"default": "include"}, {"default": "exclude", "inputs": {name: "include"}}):
        inputs, _ = journal_of(engine, type_name, rule)
        assert inputs is not None, rule
        assert name in inputs
    others, _ = journal_of(engine, type_name, {"default": "exclude", "inputs": {name: "include"}})
    assert set(others) == {name}


@pytest.mark.parametrize("type_name", SAMPLES)
@pytest.mark.parametrize("mode", ["exclude", "off"])
def test_excluded_inputs_are_nowhere(engine: Holdfast, type_name: str, mode: str) -> None:
    name, _ = SAMPLES[type_name]
    for rule in ({"default": mode}, {"inputs": {name: mode}}, {"default": "include", "inputs": {name: mode}}):
        inputs, text = journal_of(engine, type_name, rule)
        assert name not in (inputs or {}), rule
        assert SECRET not in text or type_name in DECIDE_OUTCOMES, rule
