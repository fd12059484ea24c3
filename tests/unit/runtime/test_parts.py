"""The collaborators of a runtime: one node serves facades of several tenants."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from msgspec.structs import replace

from holdfast.runtime.facade import Runtime
from tests.support.memory_node import MemoryNode


class FakeLife:
    """Records the calls of the facade."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def start(self) -> None:
        self.calls.append("start")

    async def stop(self) -> None:
        self.calls.append("stop")

    def take_work(self) -> None:
        self.calls.append("take work")

    async def drain(self, limit: timedelta) -> bool:
        self.calls.append("drain")
        return True


async def test_the_facade_starts_drains_and_stops_the_node(memory: MemoryNode) -> None:
    life = FakeLife()
    runtime = Runtime(replace(memory.node.parts, life=life), "acme", memory.engine.plan)

    async with runtime:
        runtime.take_work()
        assert await runtime.drain(timedelta(seconds=1))

    assert life.calls == ["start", "take work", "drain", "stop"]


async def test_facades_of_two_tenants_share_the_parts(memory: MemoryNode) -> None:
    parts = memory.node.parts
    first, second = (Runtime(parts, tenant, memory.engine.plan) for tenant in ("acme", "globex"))

    assert first.store is second.store
    assert first.plans is not second.plans
    assert len(set(await asyncio.gather(*(asyncio.to_thread(one.new_id) for one in (first, second))))) == 2
