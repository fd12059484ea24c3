"""Threads and processes for effects that are not async.

A thread whose effect timed out or was canceled cannot be stopped: it is counted as lost until it returns, and its place is
given to another meanwhile, up to a hard cap.
"""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import multiprocessing
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any
from weakref import WeakKeyDictionary

LOST_FACTOR = 4
"""How many times `threads_max` threads may exist while some are lost."""


class EffectPools:
    def __init__(self, threads_max: int, processes_max: int) -> None:
        self._threads_max = threads_max
        self._processes_max = processes_max
        self._threads: ThreadPoolExecutor | None = None
        self._processes: ProcessPoolExecutor | None = None
        self._places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        """One for each event loop: an engine may live longer than the loop of an `asyncio.run`."""
        self.lost = 0
        """Threads that still run something nobody waits for."""

    async def in_thread(self, call: Callable[[], Any]) -> Any:
        """Run it in a thread, in a copy of an empty context; at most `threads_max` at a time."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._threads_max * LOST_FACTOR, thread_name_prefix="holdfast-effect")
        places = self._places.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._threads_max))
        async with places:
            future = self._threads.submit(contextvars.Context().run, call)
            return await self._outcome(future)

    async def in_process(self, function: Callable[..., Any], inputs: Mapping[str, Any]) -> Any:
        if self._processes is None:
            self._processes = ProcessPoolExecutor(self._processes_max, mp_context=multiprocessing.get_context("spawn"))
        module, name = function.__module__, function.__qualname__
        return await self._outcome(self._processes.submit(call_by_name, module, name, dict(inputs)))

    async def _outcome(self, future: Future[Any]) -> Any:
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not future.cancel() and not future.done():
                self.lost += 1
                future.add_done_callback(self._found)
            raise

    def _found(self, future: Future[Any]) -> None:
        self.lost -= 1

    def close(self) -> None:
        """Let idle workers go. Lost threads end with what they do; nobody waits for them."""
        for pool in (self._threads, self._processes):
            if pool is not None:
                pool.shutdown(wait=False, cancel_futures=True)
        self._threads = self._processes = None


def call_by_name(module: str, name: str, inputs: dict[str, Any]) -> Any:
    """In another process: find the activity by its name there, and call it."""
    target: Any = importlib.import_module(module)
    for part in name.split("."):
        target = getattr(target, part)
    return getattr(target, "function", target)(**inputs)
