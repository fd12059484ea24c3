"""Queues with overdue work that no live node serves."""

from __future__ import annotations

from datetime import timedelta

from holdfast.management.unserved import OVERDUE_AFTER, Unserved, tenants_with_work, unserved_queues
from holdfast.model.work import WorkRow, queue_of
from tests.support.memory_node import MemoryNode


async def test_overdue_work_without_a_node_is_reported(memory: MemoryNode) -> None:
    now = memory.clock.now()
    rows = [WorkRow(id=name, kind="resume", queue=name, created=now, due=now) for name in ("default", "mail")]
    await memory.store.enqueue(rows)
    assert await memory.runtime.nodes.unserved() == []  # Not late yet.

    memory.clock.advance(OVERDUE_AFTER)
    await memory.node.heartbeat.beat()

    assert await memory.runtime.nodes.unserved() == [Unserved(queue="mail", since=now)]


async def test_a_draining_node_serves_nothing(memory: MemoryNode) -> None:
    now = memory.clock.now()
    await memory.store.enqueue([WorkRow(id="w", kind="resume", created=now, due=now)])
    memory.clock.advance(OVERDUE_AFTER)
    await memory.runtime.nodes.drain(timedelta(seconds=5))

    assert [item.queue for item in await memory.runtime.nodes.unserved()] == ["default"]


async def test_tenants_without_a_node_are_reported(memory: MemoryNode) -> None:
    now = memory.clock.now()
    row = WorkRow(tenant="acme", id="w", kind="resume", queue=queue_of("acme", "mail"), created=now, due=now)
    await memory.store.enqueue([row])
    memory.clock.advance(OVERDUE_AFTER)
    await memory.node.heartbeat.beat()

    assert await tenants_with_work(memory.store) == ["", "acme"]
    (found,) = await unserved_queues(memory.store, ["", "acme"])
    assert (found.name, found.tenant, found.tenant_is_served) == ("mail", "acme", False)
    assert await memory.runtime.nodes.unserved() == []  # Another tenant's.
