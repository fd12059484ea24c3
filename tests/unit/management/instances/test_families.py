"""Families: an instance with the children that it waits for."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from holdfast import Status, Workflow, activity
from holdfast.activities import Delay, Event, ExecuteWorkflow
from holdfast.management.instances import families
from tests.support.memory_node import MemoryNode
from tests.support.node import node_of
from tests.support.probe import probe

MINUTE = timedelta(minutes=1)
child = Workflow(Event("go"), id="child")
parent = Workflow(ExecuteWorkflow("child", wait=True), id="parent")
sleeper = Workflow(Delay(MINUTE), id="sleeper")


@activity
async def charge() -> str:
    probe.begun.set()
    await probe.gate.wait()
    return "charged"


charging = Workflow(charge.bind(), id="charges")


@pytest.fixture
async def memory(memory: MemoryNode) -> MemoryNode:
    await memory.runtime.definitions.deploy(child)
    return memory


async def test_a_family_has_the_children_that_it_waits_for(memory: MemoryNode) -> None:
    await memory.runtime.start(parent, instance_id="order")
    async with asyncio.timeout(20):
        found = await families.settle_family(memory.runtime, "order")

    assert len(found.children) == 1
    names = families.members(found)
    assert (names[0], len(names)) == ("order", 2)
    assert [item.id for item in found.bookmarks] == [f"{names[1]}/b1"]

    await memory.runtime.resume(names[1])
    async with asyncio.timeout(20):
        ended = await families.settle_family(memory.runtime, "order")
    assert (ended.status, families.members(ended)) == (Status.FINISHED, ["order"])


async def test_a_child_that_is_not_started_yet_is_left_out(memory: MemoryNode) -> None:
    memory.runtime.intake.paused = True
    await memory.runtime.start(parent, instance_id="order")

    assert families.members(await families.read_family(memory.runtime, "order")) == ["order"]

    memory.runtime.intake.paused = False
    assert await memory.components.poller.take_due() == 1
    async with asyncio.timeout(20):
        assert len(families.members(await families.settle_family(memory.runtime, "order"))) == 2


async def test_due_timers_of_a_family_fire(memory: MemoryNode) -> None:
    await memory.runtime.start(sleeper, instance_id="order")
    found = await families.read_family(memory.runtime, "order")
    due = families.next_due(found)
    assert due == memory.clock.now() + MINUTE

    families.fire_due(memory.runtime, found, memory.clock.now())
    assert not memory.runtime.works_on("order")
    families.fire_due(memory.runtime, found, due)
    ended = await memory.runtime.settle("order")

    assert (ended.status, families.next_due(ended)) == (Status.FINISHED, None)
    assert await memory.store.until_due(["default"]) is None


async def test_due_rows_of_a_family_are_taken(memory: MemoryNode) -> None:
    await memory.runtime.start(sleeper, instance_id="order")
    assert await families.take_up(memory.runtime, ["order", "nothing"]) == 0
    memory.clock.advance(MINUTE)

    assert await families.take_up(memory.runtime, ["order"]) == 0  # A timer is not counted.

    assert (await memory.runtime.settle("order")).status is Status.FINISHED


async def test_live_owners_of_effects_are_named(memory: MemoryNode) -> None:
    other = await memory.other("other")
    await other.start(charging, instance_id="order")
    async with asyncio.timeout(20):
        await probe.begun.wait()

    assert [row.id for row in await families.owners(memory.runtime, ["order"])] == ["other"]
    assert await families.owners(other, ["order"]) == []

    probe.gate.set()
    await other.settle("order")
    await node_of(other).stop()
