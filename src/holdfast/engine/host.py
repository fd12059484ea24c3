"""The host of an application: opens its store, joins the cluster, publishes its workflows and takes work."""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.management.definitions.providers import CodeProvider, FileProvider
from holdfast.management.runtime import ManagedRuntime
from holdfast.ports import Store, Transport
from holdfast.runtime.service import end_tasks

MakeRuntime = Callable[[Store, Transport | None], ManagedRuntime]


_numbers = itertools.count(1)


def node_name() -> str:
    """A unique node name: host and process, with a number from the second application of a process on."""
    number = next(_numbers)
    return f"{socket.gethostname()[:40]}-{os.getpid()}" + (f"-{number}" if number > 1 else "")


class Host:
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
        self._runtime: ManagedRuntime | None = None
        self._stack = AsyncExitStack()

    @property
    def is_open(self) -> bool:
        return self._runtime is not None

    @property
    def runtime(self) -> ManagedRuntime:
        if self._runtime is None:
            if self._store is None:
                raise HoldfastError(
                    "This application has no store, so it keeps nothing. Give it one: "
                    'Holdfast(store="sqlite:///holdfast.db"), HOLDFAST_STORE, or `store` in holdfast.toml. '
                    "Or run workflows without a store: app.runner."
                )
            raise HoldfastError("The application is not open. Use it inside `async with app:`.")
        return self._runtime

    async def open(self) -> None:
        """Open store, node, definitions and intake, in this order; undone in reverse order if one of them fails."""
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

    async def _provide(self, runtime: ManagedRuntime, stack: AsyncExitStack) -> None:
        """Publish all definitions or none: problems are raised before the first one is published."""
        code, files = CodeProvider(self._workflows), FileProvider(self._files)
        await files.check(runtime.definitions, await code.check(runtime.definitions))
        await code.provide(runtime.definitions)
        await files.provide(runtime.definitions)
        if self._watch and self._files:
            task = asyncio.get_running_loop().create_task(files.watch(runtime.definitions), name="holdfast-files")
            stack.push_async_callback(end_tasks, [task])

    async def close(self) -> None:
        try:
            await self._stack.aclose()
        finally:
            self._runtime = None
