"""Processes for CPU work: each runs one call at a time, so a process that dies takes no other call with it.

A process is started when it is first needed and runs many calls after each other. A process that dies is replaced by the
next call. If the caller of a running call is canceled, its process is killed: nothing else can stop it.
"""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from holdfast.errors import ProcessDied


class Processes:
    def __init__(self, most: int) -> None:
        self._free = most
        """Processes that may still be taken, idle ones included."""
        self._idle: list[ProcessPoolExecutor] = []
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def run(self, function: Callable[..., Any], inputs: Mapping[str, Any]) -> Any:
        """Call a function in a process. Raises `ProcessDied` if the process ends before the call has returned."""
        await self._take()
        process, future = self._submit(function, dict(inputs))
        usable = False
        try:
            found = await asyncio.wrap_future(future)
            usable = True
            return found
        except BrokenProcessPool:
            raise ProcessDied(f"{function.__module__}:{function.__qualname__}") from None
        except Exception:
            usable = True  # An error of the function.
            raise
        finally:
            self._give_back(process if usable else None)
            if not usable:
                _kill(process)

    async def _take(self) -> None:
        """Wait until a process is free, in the order of the calls."""
        if self._free and not self._waiting:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back(None)
            else:
                self._waiting.remove(turn)
            raise

    def _give_back(self, process: ProcessPoolExecutor | None) -> None:
        if process is not None:
            self._idle.append(process)
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _submit(self, function: Callable[..., Any], inputs: dict[str, Any]) -> tuple[ProcessPoolExecutor, Future[Any]]:
        while True:
            process = self._process()
            try:
                return process, process.submit(call_by_name, function.__module__, function.__qualname__, inputs)
            except BrokenProcessPool:  # It died while it was idle: the call has not begun, so another process takes it.
                process.shutdown(wait=False)

    def _process(self) -> ProcessPoolExecutor:
        """An idle process that is alive, or a new one: a process may die while it is idle."""
        while self._idle:
            process = self._idle.pop()
            if _is_alive(process):
                return process
            process.shutdown(wait=False)
        return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))

    def close(self) -> None:
        """End idle processes. A process that runs a call ends with the call."""
        idle, self._idle = self._idle, []
        for process in idle:
            process.shutdown(wait=False)


def _is_alive(process: ProcessPoolExecutor) -> bool:
    """Whether a process that has run a call lives. An executor that has noticed the death of its process has none."""
    children = list((process._processes or {}).values())
    return bool(children) and all(child.is_alive() for child in children)


def _kill(process: ProcessPoolExecutor) -> None:
    for child in list((process._processes or {}).values()):
        child.kill()
    process.shutdown(wait=False, cancel_futures=True)


def call_by_name(module: str, name: str, inputs: dict[str, Any]) -> Any:
    """Import the activity by its name and call it; runs in another process."""
    target: Any = importlib.import_module(module)
    for part in name.split("."):
        target = getattr(target, part)
    return getattr(target, "function", target)(**inputs)
