"""Waits for changes by any node."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from holdfast import Status, Workflow
from holdfast.activities import Event
from holdfast.runtime import waits
from holdfast.runtime.stimuli.dedupe import Settled
from tests.support.memory_node import MemoryNode

NOW, WITHIN = timedelta(0), timedelta(seconds=20)
waiting = Workflow(Event("go"), id="waits")


async def test_a_burst_is_awaited_above_a_version(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order")
    store, reader, key = memory.store, memory.components.reader, memory.runtime.key("order")
    assert await waits.burst(store, reader, key, WITHIN, above=0) == Status.SUSPENDED

    ended = asyncio.create_task(waits.burst(store, reader, key, WITHIN, above=1))
    await asyncio.sleep(0)
    assert not ended.done()
    await memory.runtime.resume("order")

    assert await ended == Status.FINISHED


async def test_the_limit_returns_the_status_so_far(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order")
    key = memory.runtime.key("order")

    status = await waits.burst(memory.store, memory.components.reader, key, timedelta(milliseconds=1), above=9)

    assert status == Status.SUSPENDED


async def test_a_routed_stimulus_is_awaited_for_its_tenant() -> None:
    settled = Settled()
    pending = asyncio.create_task(waits.routed(settled, "acme", "s", WITHIN))
    await asyncio.sleep(0)

    settled.add("acme", "s")

    assert await pending
    assert await waits.routed(settled, "acme", "s", NOW)
    assert not await waits.routed(settled, "globex", "s", NOW)


async def test_the_end_of_an_instance_is_awaited(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order")
    ended = asyncio.create_task(waits.at_rest(memory.store, lambda: memory.runtime.read("order")))
    await asyncio.sleep(0)
    assert not ended.done()

    await memory.runtime.cancel("order")

    async with asyncio.timeout(20):
        assert (await ended).status is Status.CANCELED
