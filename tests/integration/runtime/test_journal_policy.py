"""Journal policy on every store: the stored journal and the records of executions have exactly what the rule permits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.model.values import shown
from holdfast.server.views.journal import executions_of
from tests.integration.conftest import Cluster
from tests.support.journaled_inputs import DECIDE_OUTCOMES, NEEDS_REQUEST, SAMPLES, SECRET, document


@pytest.mark.parametrize("mode", ["include", "exclude", "off"])
async def test_every_built_in_activity(cluster: Cluster, mode: str) -> None:
    runtime = await cluster.node()
    for type_name in sorted(SAMPLES.keys() - NEEDS_REQUEST):
        name = SAMPLES[type_name][0]
        for rule in ({"default": mode}, {"default": "include", "inputs": {name: mode}}):
            stored, text = await _stored(
                runtime, {**document(type_name, rule), "id": f"{type_name}-{len(rule)}-{mode}"}
            )
            if mode == "include":
                assert name in stored, (type_name, rule)
            else:
                assert name not in stored, (type_name, rule)
                assert SECRET not in text or type_name in DECIDE_OUTCOMES, (type_name, rule)


async def test_one_input_is_included_where_the_engine_excludes(cluster: Cluster) -> None:
    runtime = await cluster.node(journal="exclude")

    stored, text = await _stored(runtime, document("WriteLine", {"inputs": {"text": "include"}}))
    nothing, none = await _stored(runtime, {**document("SetVariable", {}), "id": "nothing"})

    assert stored == {"text": SECRET}
    assert SECRET in text
    assert (nothing, SECRET in none) == ({}, False)


async def _stored(runtime: Any, flow: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Inputs of the activity's execution, and all entries as text."""
    answer = await runtime.start(flow)
    journal = await runtime.journal(answer.result.instance_id)
    records = [item for item in executions_of(journal) if item.activity_id == "it"]
    return (records[0].inputs or {}) if records else {}, json.dumps([shown(entry.data) for entry in journal])
