"""Reads of instances of one tenant."""

from __future__ import annotations

import pytest

from holdfast import Status, Workflow
from holdfast.activities import Event, Sequence
from holdfast.errors import InstanceNotFound
from holdfast.runtime.reads import InstanceReads
from tests.support.memory_node import MemoryNode

waiting = Workflow(Sequence(Event("one"), Event("two")), id="waits")


async def test_an_instance_is_read_with_its_row(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order", correlation_id="c")

    row, result = await memory.runtime.read_with_row("order")

    assert (row.version, row.correlation_id, result.commits) == (1, "c", 1)
    assert (await memory.runtime.read("order")).status is Status.SUSPENDED


async def test_an_unknown_instance_is_none_or_an_error(memory: MemoryNode) -> None:
    assert await memory.runtime.find("nothing") is None
    with pytest.raises(InstanceNotFound):
        await memory.runtime.read("nothing")


async def test_instances_of_other_tenants_are_not_found(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order")
    foreign = InstanceReads(memory.node.parts, "globex")

    assert await foreign.find("order") is None
    assert foreign.cached_row("order") is None


async def test_the_journal_is_read_in_pages_of_commits(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order")
    await memory.runtime.resume("order")
    whole = await memory.runtime.journal("order")

    first = await memory.runtime.journal("order", limit=1)
    rest = await memory.runtime.journal("order", after=1)

    assert 0 < len(first) < len(whole)
    assert first + rest == whole


async def test_a_forgotten_row_is_not_cached(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order")
    row = await memory.runtime.row("order")
    memory.runtime.keep_read(row)
    assert memory.runtime.cached_row("order") is not None

    memory.runtime.forget("order")

    assert memory.runtime.cached_row("order") is None


async def test_work_in_hand_is_awaited(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order")
    assert not memory.runtime.works_on("order")
    key = memory.runtime.key("order")
    memory.components.in_hand.hold(key)
    assert memory.runtime.works_on("order")
    memory.components.in_hand.release(key)

    assert (await memory.runtime.settle("order")).status is Status.SUSPENDED
