"""Scenarios of commit strategies: two nodes continue each other's added commits, inline and on queues."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from holdfast import Status
from tests.integration.scenarios.conftest import Scene, at_rest, start
from tests.support.strategy_shapes import ACTIVITIES, SHAPES, WAITS, child, workflow


@pytest.mark.parametrize(
    "strategy", ["workflow_executing", "activity_executing", "activity_executed", "always", "periodic:PT0.001S"]
)
async def test_two_nodes_end_every_shape(scene: Scene, strategy: str) -> None:
    a, b = await scene.pair(*ACTIVITIES)
    name = uuid4().hex[:8]
    await a.definitions.deploy(child(strategy))
    ids = {shape: await start(a, workflow(shape, strategy, name)) for shape in SHAPES}
    for shape in WAITS:
        await b.stimuli.event("go", instance_id=ids[shape])

    results = dict(zip(ids, await asyncio.gather(*(at_rest(b, identity) for identity in ids.values())), strict=True))
    for shape, result in results.items():
        expected = SHAPES[shape][1]
        assert result.status is Status.FINISHED, (shape, result.incidents)
        assert {name: result.variables[name] for name in expected} == expected, shape
        await scene.cluster.check(a, ids[shape])
