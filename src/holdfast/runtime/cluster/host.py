"""The life of an application: opens its store, joins the cluster, offers its workflows, takes work; and back."""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.ports import Store, Transport
from holdfast.runtime.task_end import end

if TYPE_CHECKING:
    from holdfast.runtime.facade import Runtime

MakeRuntime = Callable[[Store, Transport | None], "Runtime"]


_numbers = itertools.count(1)


def node_name() -> str:
    """Host and process, and a number from the second application of a process on: a name that nobody else has."""
    number = next(_numbers)
    return f"{socket.gethostname()[:40]}-{os.getpid()}" + (f"-{number}" if number > 1 else "")


class Hosting:
    def __init__(
        self,
        *,
        store: Callable[[], Store] | None,
        transport: Callable[[], Transport | None],
        make: MakeRuntime,
        workflows: Iterable[Any],
        files: Iterable[Path] = (),
        watch: bool = False,
        worker: bool,
    ) -> None:
        self._store = store
        self._transport = transport
        self._make = make
        self._workflows = tuple(workflows)
        self._files = tuple(files)
        self._watch = watch
        self._worker = worker
        self._runtime: Runtime | None = None
        self._stack = AsyncExitStack()

    @property
    def is_open(self) -> bool:
        return self._runtime is not None

    @property
    def runtime(self) -> Runtime:
        if self._runtime is None:
            if self._store is None:
                raise HoldfastError(
                    "This application has no store, so it keeps nothing. Give it one: "
                    'Holdfast(store="sqlite:///holdfast.db"); or run workflows without one: app.runner.'
                )
            raise HoldfastError("The application is not open. Use it inside `async with app:`.")
        return self._runtime

    async def open(self) -> None:
        """Store, node, definitions, work: in this order, and undone in the other if one of them fails."""
        if self._store is None:
            return
        store = self._store()
        async with AsyncExitStack() as stack:
            stack.push_async_callback(store.close)
            await store.open()
            transport = self._transport()
            if transport is not None:
                stack.push_async_callback(transport.close)
                await transport.open()
            runtime = await stack.enter_async_context(self._make(store, transport))
            await self._provide(runtime, stack)
            if self._worker:
                runtime.take_work()
            self._runtime = runtime
            self._stack = stack.pop_all()

    async def _provide(self, runtime: Runtime, stack: AsyncExitStack) -> None:
        """All of them or none: what is wrong with one is told before any is published."""
        from holdfast.management.definitions.providers import CodeProvider, FileProvider

        code, files = CodeProvider(self._workflows), FileProvider(self._files)
        await files.rehearse(runtime.definitions, await code.rehearse(runtime.definitions))
        await code.provide(runtime.definitions)
        await files.provide(runtime.definitions)
        if self._watch and self._files:
            task = asyncio.get_running_loop().create_task(files.watch(runtime.definitions), name="holdfast-files")
            stack.push_async_callback(end, [task])

    async def close(self) -> None:
        try:
            await self._stack.aclose()
        finally:
            self._runtime = None
