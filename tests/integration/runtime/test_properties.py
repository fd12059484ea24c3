"""Properties of instances on every store: given at the start, changed by effects, kept over commits, nodes and children."""

from __future__ import annotations

import asyncio

import pytest

from holdfast import Context, Status, Workflow, activity
from holdfast.activities import Event, Sequence
from holdfast.api import DispatchDefinition
from tests.integration.conftest import Cluster


@activity
async def visit(context: Context) -> None:
    context.properties["visits"] = context.properties.get("visits", 0) + 1
    context.transient_properties["gone"] = True


@pytest.mark.parametrize("strategy", [None, "always"])
async def test_they_are_committed_with_the_state(cluster: Cluster, strategy: str | None) -> None:
    first = await cluster.node("a", work=True, activities=[visit])
    flow = Workflow(Sequence(visit.bind(), Event("go"), visit.bind()), id="visited", commit=strategy)
    answer = await first.start(flow, properties={"by": "ada", "tags": ["x"]})
    assert answer.result is not None
    identity = answer.result.instance_id
    async with asyncio.timeout(20):
        await first.settled(identity)
    assert (await first.read(identity)).properties == {"by": "ada", "tags": ["x"], "visits": 1}

    other = await cluster.node("b", work=True, activities=[visit])
    await other.stimuli.event("go", instance_id=identity)
    async with asyncio.timeout(20):
        result = await other.wait_at_rest(identity)
    assert result.status is Status.FINISHED
    assert result.properties == {"by": "ada", "tags": ["x"], "visits": 2}
    await cluster.check(other, identity)


async def test_a_dispatched_start_has_them(cluster: Cluster) -> None:
    runtime = await cluster.node(work=True, activities=[visit])
    await runtime.definitions.deploy(Workflow(visit.bind(), id="dispatched"))

    await runtime.dispatcher.dispatch(
        DispatchDefinition(definition_id="dispatched", instance_id="one", properties={"by": "bob"})
    )

    async with asyncio.timeout(20):
        assert (await runtime.wait_at_rest("one")).properties == {"by": "bob", "visits": 1}
