"""A worker: nodes that take work from a store and a transport until they are stopped, then drain.

It runs one node per tenant: work of one tenant never waits behind the backlog of another, since each node has its own queues and
its own concurrency.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any, Protocol

from msgspec import Struct

from holdfast.management.runtime import ManagedRuntime
from holdfast.model.stored import DEFAULT_TENANT
from holdfast.model.work import DEFAULT_QUEUE
from holdfast.ports import Store, Transport
from holdfast.runtime.cluster.plugin_tasks import PluginTasks

logger = logging.getLogger("holdfast")


class WorkerOptions(Struct, frozen=True, kw_only=True):
    name: str
    queues: tuple[str, ...] = (DEFAULT_QUEUE,)
    """Queues that the worker serves. Starts, resumes and timers use the queue `default`."""
    tenants: tuple[str, ...] = (DEFAULT_TENANT,)
    concurrency: int | None = None
    """Concurrent steps per tenant; None: the settings decide."""
    lanes: int | None = None
    connections: int | None = None
    """Connections to the store; None: the settings decide, as for lanes."""
    drain_limit: timedelta = timedelta(seconds=30)


class WorkerEngine(Protocol):
    """The part of an engine that a worker uses."""

    background: PluginTasks
    """Start-up and recurring tasks of plugins."""

    def store(self, url: str | None = None, *, connections: int | None = None) -> Store: ...
    def transport(self, url: str | None = None) -> Transport | None: ...
    def placement(self, transport: Transport | None = None) -> Any: ...
    def second_handle(self, url: str | None = None) -> Callable[[], Store] | None: ...
    def runtime_on(
        self,
        store: Store,
        *,
        tenant: str = ...,
        tenants: Sequence[str] = ...,
        node: str = ...,
        lanes: int | None = ...,
        queues: Sequence[str] = ...,
        placement: Any = ...,
        step_concurrency: int | None = ...,
        second_handle: Callable[[], Store] | None = ...,
    ) -> ManagedRuntime: ...


class Worker:
    def __init__(
        self,
        engine: WorkerEngine,
        options: WorkerOptions,
        *,
        store: str | None = None,
        transport: str | None = None,
        workflows: Sequence[Any] = (),
    ) -> None:
        """`store` and `transport` are addresses; None: the settings decide. `workflows` are published first."""
        self._engine = engine
        self._options = options
        self._store = store
        self._transport = transport
        self._workflows = tuple(workflows)
        self._stopping = asyncio.Event()
        self.runtimes: list[ManagedRuntime] = []
        """One per tenant, all on one node."""
        self.is_open = False
        """The worker takes work or drains; its store is open."""

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def stop(self) -> None:
        """Drain and end; safe to call from a signal handler of the event loop."""
        self._stopping.set()

    async def run(self, on_ready: Callable[[Worker], None] | None = None) -> bool:
        """Work until `stop`; returns whether all work in hand ended within the limit."""
        async with AsyncExitStack() as stack:
            await self._open(stack)
            self.is_open = True
            stack.callback(self._close)
            if on_ready is not None:
                on_ready(self)
            await self._stopping.wait()
            logger.info("worker %s drains", self._options.name)
            return await self.runtimes[0].drain(self._options.drain_limit)

    def _close(self) -> None:
        self.is_open = False

    async def _open(self, stack: AsyncExitStack) -> None:
        engine, options = self._engine, self._options
        store = engine.store(self._store, connections=options.connections)
        stack.push_async_callback(store.close)
        await store.open()
        transport = engine.transport(self._transport)
        if transport is not None:
            stack.push_async_callback(transport.close)
            await transport.open()
        node = engine.runtime_on(
            store,
            tenant=options.tenants[0],
            tenants=options.tenants,
            node=options.name,
            lanes=options.lanes,
            queues=options.queues,
            placement=engine.placement(transport),
            step_concurrency=options.concurrency,
            second_handle=engine.second_handle(self._store),
        )
        await stack.enter_async_context(node)
        self.runtimes += [node, *map(node.of_tenant, options.tenants[1:])]
        for runtime in self.runtimes:
            for workflow in self._workflows:
                await runtime.definitions.deploy(workflow)
        stack.push_async_callback(engine.background.stop)
        await engine.background.start()
        for runtime in self.runtimes[1:]:
            stack.push_async_callback(runtime.definitions.as_activities.stop)
            runtime.definitions.as_activities.start()
        node.take_work()
