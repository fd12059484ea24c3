"""An instance that was started on a queue stays on it: over timers, events, children, retries and deaths of nodes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Holdfast, Status, activity
from holdfast.api import DispatchDefinition
from tests.integration.conftest import Cluster
from tests.support.node import node_of
from tests.support.probe import probe

HOME = "gpu"
FORMAT = "holdfast/definition@1"


def engine(node: str, *, waits: bool = False) -> Holdfast:
    """An engine whose activity `where` records the node that runs it."""

    @activity(name="where")
    async def where() -> str:
        probe.calls.append(node)
        if waits:
            probe.begun.set()
            await probe.gate.wait()
        return node

    return Holdfast(entry_points=False, activities=[where])


def document(id: str, *activities: dict[str, Any]) -> dict[str, Any]:
    numbered = [{"id": f"a{number}", **item} for number, item in enumerate(activities)]
    return {"format": FORMAT, "id": id, "root": {"id": "all", "type": "Sequence", "activities": numbered}}


WHERE = {"type": "where"}
EVENT = {"type": "Event", "inputs": {"event_name": "go"}}
TIMER = {"type": "Delay", "inputs": {"duration": "PT0.001S"}}


async def dispatched(door: Any, definition: str) -> str:
    answer = await door.dispatcher.dispatch(DispatchDefinition(definition_id=definition, queue=HOME))
    return str(answer.instance_ids[0])


@pytest.mark.parametrize("between", [TIMER, EVENT], ids=["timer", "event"])
async def test_effects_behind_a_wait_run_on_the_queue_of_the_start(cluster: Cluster, between: dict[str, Any]) -> None:
    await cluster.node("gpu", work=True, queues=(HOME,), engine=engine("gpu"))
    door = await cluster.node("door", work=True, engine=engine("door"))
    await door.definitions.save_and_publish(document("flow", WHERE, between, WHERE))

    identity = await dispatched(door, "flow")
    if between is EVENT:
        await door.stimuli.event("go", instance_id=identity)

    assert (await door.wait_at_rest(identity)).status is Status.FINISHED
    assert probe.calls == ["gpu", "gpu"]
    await cluster.check(door, identity)


async def test_children_stay_on_the_queue_of_their_parent(cluster: Cluster) -> None:
    await cluster.node("gpu", work=True, queues=(HOME,), engine=engine("gpu"))
    door = await cluster.node("door", work=True, engine=engine("door"))
    await door.definitions.save_and_publish(document("child", TIMER, WHERE))
    run = {"type": "ExecuteWorkflow", "inputs": {"workflow": "child", "wait": True}}
    await door.definitions.save_and_publish(document("flow", run, WHERE))

    identity = await dispatched(door, "flow")

    assert (await door.wait_at_rest(identity)).status is Status.FINISHED
    assert probe.calls == ["gpu", "gpu"]


async def test_a_lost_effect_returns_to_the_queue_of_the_start(cluster: Cluster) -> None:
    first = await cluster.node("gpu-1", work=True, queues=(HOME,), engine=engine("gpu-1", waits=True))
    door = await cluster.node("door", work=True, engine=engine("door"))
    await door.definitions.save_and_publish(document("flow", WHERE))
    identity = await dispatched(door, "flow")
    await probe.begun.wait()

    first.nodes.pause_intake()
    await cluster.died(first)
    await cluster.node("gpu-2", work=True, queues=(HOME,), engine=engine("gpu-2"))
    await node_of(door).components.reaper.sweep()

    assert (await door.wait_at_rest(identity)).status is Status.FINISHED
    assert probe.calls == ["gpu-1", "gpu-2"]


async def test_a_start_and_its_timer_on_a_queue_without_a_node_are_shown(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.management.unserved.OVERDUE_AFTER", timedelta(0))
    door = await cluster.node("door", work=True, engine=engine("door"))
    await door.definitions.save_and_publish(document("flow", WHERE))

    identity = await dispatched(door, "flow")

    assert [item.queue for item in await door.nodes.unserved()] == [f"{HOME}@{cluster.tenant}"]
    await cluster.node("gpu", work=True, queues=(HOME,), engine=engine("gpu"))
    assert (await door.wait_at_rest(identity)).status is Status.FINISHED
    assert await door.nodes.unserved() == []
