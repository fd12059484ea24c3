"""The life of a node: registration, order of start and stop, drain, and the effects that it gives back."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from holdfast import Workflow, activity
from holdfast.errors import StoreError
from holdfast.model.cluster import NodeState
from holdfast.model.node_details import read_details
from holdfast.model.work import NO_OWNER
from holdfast.runtime.cluster.heartbeat import Heartbeat
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.work_queue.poller import Poller
from tests.support.memory_node import MemoryNode
from tests.support.node import node_of
from tests.support.probe import probe

WITHIN = 20


@activity
async def charge() -> str:
    probe.begun.set()
    await probe.gate.wait()
    return "charged"


charging = Workflow(charge.bind(), id="charges")


async def state_of(memory: MemoryNode, name: str = "n") -> NodeState:
    return next(row.state for row in await memory.store.list_nodes() if row.id == name)


async def test_a_started_node_is_registered_with_its_tenant_and_queues(memory: MemoryNode) -> None:
    (row,) = await memory.store.list_nodes()
    details = read_details(row.details)

    assert (row.id, row.state, row.owner) == ("n", NodeState.LIVE, memory.runtime.membership.owner)
    assert (details.tenant, details.tenants, details.queues) == ("", (), ("default",))


async def test_a_node_that_takes_no_work_announces_no_queues(memory: MemoryNode) -> None:
    other = await memory.other("client", takes_work=False)

    (row,) = [row for row in await memory.store.list_nodes() if row.id == "client"]
    assert read_details(row.details).queues == ()
    await node_of(other).stop()


async def test_ids_need_a_registration() -> None:
    memory = MemoryNode()
    with pytest.raises(StoreError, match="not registered"):
        memory.runtime.new_id()
    memory.engine.close()


async def test_the_successor_of_a_node_that_died_works_carefully(memory: MemoryNode) -> None:
    first = await memory.other("twice")
    assert not first.intake.in_quarantine
    second = await memory.other("twice")  # The first one has not left.

    assert second.intake.in_quarantine
    for runtime in (second, first):
        await node_of(runtime).stop()


async def test_the_poller_stops_before_the_lanes_and_the_heartbeat_last(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    for cls in (Poller, Lanes, Heartbeat):
        original = cls.stop

        async def stop(self: object, *given: object, cls: type = cls, original: object = original) -> None:
            order.append(cls.__name__)
            await original(self, *given)  # type: ignore[operator]

        monkeypatch.setattr(cls, "stop", stop)
    async with MemoryNode() as memory:
        memory.node.take_work()

    assert order == ["Poller", "Lanes", "Heartbeat"]


async def test_a_stopped_node_has_left_and_a_second_stop_does_nothing(memory: MemoryNode) -> None:
    await memory.node.stop()
    assert await state_of(memory) is NodeState.LEFT
    await memory.node.stop()


async def test_a_running_effect_is_given_back_at_the_stop() -> None:
    async with MemoryNode() as memory:
        await memory.runtime.start(charging, instance_id="order")
        async with asyncio.timeout(WITHIN):
            await probe.begun.wait()
        assert memory.node.is_busy

        await memory.node.stop()

        (row,) = await memory.store.effects_of("", "order")
        assert (row.owner, row.attempt) == (NO_OWNER, 1)


async def test_a_drained_node_takes_no_work_and_waits_for_its_effects(memory: MemoryNode) -> None:
    await memory.runtime.start(charging, instance_id="order")
    async with asyncio.timeout(WITHIN):
        await probe.begun.wait()

    assert not await memory.node.drain(timedelta(milliseconds=1))
    assert (memory.runtime.intake.paused, await state_of(memory)) == (True, NodeState.DRAINING)
    probe.gate.set()

    assert await memory.node.drain(timedelta(seconds=WITHIN))
    assert (await memory.runtime.read("order")).status.at_rest
