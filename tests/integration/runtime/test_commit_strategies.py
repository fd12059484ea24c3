"""Commit strategies on every store: each shape of workflow ends with the right result and the expected number of commits."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from holdfast import Status
from holdfast.management.runtime import ManagedRuntime
from tests.integration.conftest import Cluster
from tests.support.strategy_shapes import ACTIVITIES, ACTIVITY, ALL, SHAPES, WAITS, child, workflow


async def run(runtime: ManagedRuntime, flow: Any) -> Any:
    answer = await runtime.start(flow)
    assert answer.result is not None
    identity = answer.result.instance_id
    if flow.definition.id.split("-")[0] in WAITS:
        await runtime.stimuli.event("go", instance_id=identity)
    async with asyncio.timeout(30):
        return await runtime.wait_at_rest(identity)


async def check(cluster: Cluster, flows: dict[str, Any], **options: Any) -> dict[str, int]:
    runtime = await cluster.node(work=True, activities=ACTIVITIES, definitions=[child(None)], **options)
    results = dict(zip(flows, await asyncio.gather(*(run(runtime, flow) for flow in flows.values())), strict=True))
    for shape, result in results.items():
        assert result.status is Status.FINISHED, (shape, result.incidents)
        assert {name: result.variables[name] for name in SHAPES[shape][1]} == SHAPES[shape][1], shape
        await cluster.check(runtime, result.instance_id)
    return {shape: result.commits for shape, result in results.items()}


BEFORE = {"lines": 5, "effects": 6, "loops": 14, "children": 5}
AFTER = {"lines": 3, "effects": 4, "loops": 10, "children": 3}
PLAIN = {"lines": 1, "effects": 3, "loops": 4, "children": 2}
COMMITS = {
    "workflow_executing": {shape: number + 1 for shape, number in PLAIN.items()},
    "workflow_executed": PLAIN,
    "activity_executing": BEFORE,
    "activity_executed": AFTER,
    "periodic": PLAIN,
    "always": BEFORE,  # The commit after an activity is the commit before the next one.
    "never": PLAIN,
    "executing": BEFORE,
    "executed": AFTER,
}
"""Shapes whose commits have a fixed order. In the others, an event or a result may join the commit of another."""


@pytest.mark.parametrize("strategy", ALL)
async def test_every_shape_ends_with_every_strategy(cluster: Cluster, strategy: str) -> None:
    name = uuid4().hex[:8]
    commits = await check(cluster, {shape: workflow(shape, strategy, name) for shape in SHAPES})

    expected = COMMITS.get(strategy, {})
    assert {shape: commits[shape] for shape in expected} == expected


@pytest.mark.parametrize("own", ACTIVITY)
async def test_the_option_of_the_last_activity_adds_commits_and_ends(cluster: Cluster, own: str) -> None:
    name = uuid4().hex[:8]
    await check(cluster, {shape: workflow(shape, None, name, own=own) for shape in SHAPES})


async def test_the_setting_is_the_strategy_of_workflows_that_name_none(cluster: Cluster) -> None:
    name = uuid4().hex[:8]
    flows = {shape: workflow(shape, None, name) for shape in AFTER}
    assert await check(cluster, flows, commit_strategy="activity_executed") == AFTER


async def test_a_workflow_may_refuse_the_strategy_of_the_setting(cluster: Cluster) -> None:
    name = uuid4().hex[:8]
    flows = {shape: workflow(shape, "never", name) for shape in PLAIN}
    assert await check(cluster, flows, commit_strategy="activity_executing") == PLAIN
