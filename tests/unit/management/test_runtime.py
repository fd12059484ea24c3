"""The managed runtime: collaborators of one tenant, made once."""

from __future__ import annotations

import pytest

from holdfast import Status, Workflow
from holdfast.activities import Event, Sequence
from holdfast.errors import StateNotKept
from holdfast.management.runtime import ManagedRuntime
from tests.support.memory_node import MemoryNode

steps = Workflow(Sequence(Event("one"), Event("two")), id="steps")


@pytest.mark.parametrize(
    "name", ["definitions", "triggers", "schedules", "nodes", "tasks", "alterations", "operators", "history"]
)
async def test_each_collaborator_is_made_once(memory: MemoryNode, name: str) -> None:
    assert getattr(memory.runtime, name) is getattr(memory.runtime, name)


async def test_two_tenants_have_their_own_definitions(memory: MemoryNode) -> None:
    other = ManagedRuntime(memory.node.parts, "globex", memory.engine)
    await memory.runtime.definitions.deploy(steps)

    assert [len((await runtime.definitions.list())[0]) for runtime in (memory.runtime, other)] == [1, 0]


async def test_a_fork_continues_beside_its_original() -> None:
    async with MemoryNode(history="snapshots") as memory:
        await memory.runtime.start(steps, instance_id="order")
        await memory.runtime.resume("order")

        copy = await memory.runtime.fork("order", version=1, new_id="copy", who="ada")

        assert copy == "copy"
        now, then = await memory.runtime.read("order"), await memory.runtime.read("copy")
        assert [item.activity_id for item in now.bookmarks] != [item.activity_id for item in then.bookmarks]
        assert (await memory.runtime.read_at("order", 1)).status is Status.SUSPENDED
        with pytest.raises(StateNotKept):
            await memory.runtime.read_at("order", 9)
