"""Earlier versions of an instance, where their snapshots are stored."""

from __future__ import annotations

import pytest

from holdfast import Status, Workflow
from holdfast.activities import Event, Sequence
from holdfast.errors import StateNotKept
from holdfast.management.instances import history
from tests.support.memory_node import MemoryNode

steps = Workflow(Sequence(Event("one"), Event("two")), id="steps")


async def test_each_commit_is_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PAGE", 2)
    async with MemoryNode(history="snapshots") as memory:
        await memory.runtime.start(steps, instance_id="order")
        for _ in range(2):
            await memory.runtime.resume("order")

        moments = await memory.runtime.moments("order")

        assert [(item.version, item.status) for item in moments] == [
            (1, Status.SUSPENDED),
            (2, Status.SUSPENDED),
            (3, Status.FINISHED),
        ]
        first = await memory.runtime.read_at("order", 1)
        assert (first.status, len(first.bookmarks)) == (Status.SUSPENDED, 1)
        assert await memory.runtime.moments("other") == []


async def test_without_snapshots_no_version_is_kept(memory: MemoryNode) -> None:
    await memory.runtime.start(steps, instance_id="order")

    assert await memory.runtime.moments("order") == []
    with pytest.raises(StateNotKept):
        await memory.runtime.history.snapshot("order", 1)
