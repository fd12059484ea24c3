"""One started node on a store in memory, with a clock that the test moves. It takes work only where a test makes it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Self

from holdfast import Holdfast
from holdfast.management.runtime import ManagedRuntime
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.cluster.node import Node
from holdfast.runtime.cluster.wiring import Components
from holdfast.testing.clock import VirtualClock
from tests.support.node import node_of
from tests.support.probe import probe


class MemoryNode:
    def __init__(self, *, store: MemoryStore | None = None, clock: VirtualClock | None = None, **engine: Any) -> None:
        self.clock = clock or VirtualClock(jump=False)
        self.store = store or MemoryStore(now=self.clock.now)
        self.engine = Holdfast(entry_points=False, clock=self.clock, **engine)
        self.runtime: ManagedRuntime = self.engine.runtime_on(self.store, node="n")
        self.node: Node = node_of(self.runtime)

    @property
    def components(self) -> Components:
        return self.node.components

    async def __aenter__(self) -> Self:
        probe.renew()
        await self.node.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        probe.gate.set()
        await self.node.stop()
        self.engine.close()

    async def other(self, name: str, **options: Any) -> ManagedRuntime:
        """Another started node on the same store; the test stops it."""
        runtime = self.engine.runtime_on(self.store, node=name, **options)
        await node_of(runtime).start()
        return runtime

    async def declare_dead(self, runtime: ManagedRuntime) -> None:
        """The lease of the node ends now, though its process continues."""
        await self.store.register_node(runtime.membership.name, time_to_live=timedelta(0))
