"""Threads and processes for effects that are not async."""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any

from holdfast.runtime.effects.threads import Threads


class EffectPools:
    def __init__(self, threads_max: int, processes_max: int) -> None:
        self._threads = Threads(threads_max)
        self._processes_max = processes_max
        self._processes: ProcessPoolExecutor | None = None
        self._lost_processes = 0
        self.in_thread = self._threads.run

    @property
    def lost(self) -> int:
        """Threads and processes that still run a call which its caller has given up."""
        return self._threads.lost + self._lost_processes

    async def in_process(self, function: Callable[..., Any], inputs: Mapping[str, Any]) -> Any:
        if self._processes is None:
            self._processes = ProcessPoolExecutor(self._processes_max, mp_context=multiprocessing.get_context("spawn"))
        module, name = function.__module__, function.__qualname__
        future = self._processes.submit(call_by_name, module, name, dict(inputs))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not future.cancel() and not future.done():
                self._lost_processes += 1
                future.add_done_callback(self._lost_ended)
            raise

    def _lost_ended(self, future: Future[Any]) -> None:
        self._lost_processes -= 1

    def close(self) -> None:
        """Release idle workers. Lost threads and processes end with their call; `close` does not wait for them."""
        self._threads.close()
        if self._processes is not None:
            self._processes.shutdown(wait=False, cancel_futures=True)
            self._processes = None


def call_by_name(module: str, name: str, inputs: dict[str, Any]) -> Any:
    """Import the activity by its name and call it; runs in another process."""
    target: Any = importlib.import_module(module)
    for part in name.split("."):
        target = getattr(target, part)
    return getattr(target, "function", target)(**inputs)
