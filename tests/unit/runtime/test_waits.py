"""Waits for instances, by key."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Status, Workflow
from holdfast.activities import Event, Sequence
from holdfast.model.changes import UNKNOWN
from holdfast.runtime import waits
from holdfast.runtime.stimuli.dedupe import Settled
from tests.support.memory_node import MemoryNode

NOW, WITHIN = timedelta(0), timedelta(seconds=20)
waiting = Workflow(Event("go"), id="waits")


async def asleep() -> None:
    """Let all tasks run until they wait."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_burst_is_awaited_above_a_version(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order")
    found, key = memory.components.waits, memory.runtime.key("order")
    assert await found.burst(key, WITHIN, above=0) == Status.SUSPENDED

    ended = asyncio.create_task(found.burst(key, WITHIN, above=1))
    await asyncio.sleep(0)
    assert not ended.done()
    await memory.runtime.resume("order")

    assert await ended == Status.FINISHED


async def test_the_limit_returns_the_status_so_far(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order")
    key = memory.runtime.key("order")

    status = await memory.components.waits.burst(key, timedelta(milliseconds=1), above=9)

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
    ended = asyncio.create_task(memory.runtime.wait_at_rest("order"))
    await asyncio.sleep(0)
    assert not ended.done()

    await memory.runtime.cancel("order")

    async with asyncio.timeout(20):
        assert (await ended).status is Status.CANCELED


class Reads:
    """Counts the rows that are read from the store, and the states that are decoded."""

    def __init__(self, memory: MemoryNode, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows = self.states = self.versions = 0
        reader, store = memory.components.reader, memory.store
        row, decode, versions_of = reader.row, reader.decode_state, store.versions_of

        async def read(key: Any) -> Any:
            self.rows += 1
            return await row(key)

        def decoded(*arguments: Any) -> Any:
            self.states += 1
            return decode(*arguments)

        async def versions(keys: Any) -> Any:
            self.versions += 1
            return await versions_of(keys)

        monkeypatch.setattr(reader, "row", read)
        monkeypatch.setattr(reader, "decode_state", decoded)
        monkeypatch.setattr(store, "versions_of", versions)


async def test_a_commit_wakes_only_the_callers_of_its_own_instance(
    memory: MemoryNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"order-{number}" for number in range(20)]
    for name in [*names, "busy"]:
        await memory.runtime.start(waiting, instance_id=name)
    callers = [asyncio.create_task(memory.runtime.wait_at_rest(name)) for name in names]
    await asleep()
    reads = Reads(memory, monkeypatch)

    await memory.runtime.resume("busy")
    await asleep()
    assert (reads.rows, reads.versions) == (0, 0)

    await memory.runtime.resume(names[0])
    async with asyncio.timeout(20):
        assert (await callers[0]).status is Status.FINISHED
    assert reads.rows == 1
    for caller in callers:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)


async def test_commits_on_the_way_do_not_wake_a_caller_that_waits_for_the_end(
    memory: MemoryNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    twice = Workflow(Sequence(Event("go"), Event("go")), id="twice")
    await memory.runtime.start(twice, instance_id="order")
    caller = asyncio.create_task(memory.runtime.wait_at_rest("order"))
    await asleep()
    reads = Reads(memory, monkeypatch)

    await memory.runtime.resume("order")
    await asleep()
    assert reads.rows == 0

    await memory.runtime.resume("order")
    async with asyncio.timeout(20):
        assert (await caller).status is Status.FINISHED
    assert reads.rows == 1


async def test_changes_of_other_processes_are_one_query_for_all_and_read_only_what_changed(
    memory: MemoryNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"order-{number}" for number in range(20)]
    for name in names:
        await memory.runtime.start(waiting, instance_id=name)
    callers = [asyncio.create_task(memory.runtime.wait_at_rest(name)) for name in names]
    await asleep()
    reads = Reads(memory, monkeypatch)
    monkeypatch.setattr(memory.components.waits, "_on_commits", lambda batch: None)  # The commit of another process.
    await memory.runtime.resume(names[0])
    memory.store._hub.publish(UNKNOWN)

    async with asyncio.timeout(20):
        assert (await callers[0]).status is Status.FINISHED
    assert reads.rows == 1
    assert reads.versions >= 1
    for caller in callers:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)


async def test_without_callers_nothing_is_looked_up(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order")
    found = memory.components.waits
    await found.burst(memory.runtime.key("order"), WITHIN, above=0)

    assert found._looks is None
    assert found._unsubscribe is None
