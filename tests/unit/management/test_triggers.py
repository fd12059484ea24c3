"""Triggers of published definitions."""

from __future__ import annotations

from holdfast import Workflow
from holdfast.activities import Event, Sequence
from holdfast.management.triggers import Triggers
from tests.support.memory_node import MemoryNode


def starts(name: str) -> Workflow:
    return Workflow(Sequence(Event(f"{name}-placed", id="placed", can_start=True), Event("go")), id=name)


async def test_triggers_are_listed_by_definition(memory: MemoryNode) -> None:
    for name in ("a", "b"):
        await memory.runtime.definitions.deploy(starts(name))
    triggers = memory.runtime.triggers

    assert sorted(item.definition_id for item in await triggers.list()) == ["a", "b"]
    (one,) = await triggers.list("a")
    assert (one.activity_id, one.type, one.version) == ("placed", "Event", 1)
    assert "a-placed" in str(one.payload)


async def test_waits_inside_a_definition_and_other_tenants_are_not_listed(memory: MemoryNode) -> None:
    await memory.runtime.definitions.deploy(Workflow(Event("go"), id="waits"))
    await memory.runtime.definitions.deploy(starts("a"))

    assert await memory.runtime.triggers.list("waits") == []
    assert await Triggers(memory.store, "globex").list() == []
