"""Background work of a node: services that run periodically or when they are woken, one-off background tasks, and the reliable
end of tasks.

Every loop that runs for the life of a node is a `PeriodicService` or a `WakeableService`. A round that fails is logged and
repeated; the loop never ends by an error.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from holdfast.runtime.observability.outage_log import OutageLog

logger = logging.getLogger("holdfast")

NOW = timedelta(0)
"""The pause of a round that found work and wants to look again at once."""
CANCEL_AGAIN_AFTER = 5.0
"""Seconds until a task that has not ended is canceled again."""

Round = Callable[[], Awaitable[timedelta | None]]
"""One round of a service. It returns the pause until the next round; None: the usual one."""


class _Service(ABC):
    """A loop from `start` to `stop`, which `wake` reaches."""

    def __init__(self, name: str, failure: str, log: OutageLog) -> None:
        """`failure` says in the log which work failed."""
        self._name = name
        self._failure = failure
        self._log = log
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()

    @property
    def is_running(self) -> bool:
        return self._task is not None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name=f"holdfast-{self._name}")

    async def stop(self) -> None:
        if self._task is not None:
            await end_tasks([self._task])
            self._task = None

    def wake(self) -> None:
        self._wake.set()

    @abstractmethod
    async def _run(self) -> None: ...


class PeriodicService(_Service):
    """Runs a round again and again, from `start` to `stop`. `wake` ends the current pause."""

    def __init__(
        self,
        name: str,
        run: Round,
        *,
        every: timedelta | Callable[[], timedelta],
        failure: str,
        log: OutageLog,
        pause_first: bool = False,
    ) -> None:
        """`every` is the usual pause between two rounds."""
        super().__init__(name, failure, log)
        self._run_once = run
        self._every = every
        self._pause_first = pause_first

    async def _run(self) -> None:
        if self._pause_first:
            await self._pause(self._usual_pause)
        while True:
            try:
                pause = await self._run_once()
            except Exception:  # noqa: BLE001 - logged, and the next round tries again
                self._log.warning("%s", self._failure)
                pause = None
            await self._pause(self._usual_pause if pause is None else pause)

    @property
    def _usual_pause(self) -> timedelta:
        return self._every if isinstance(self._every, timedelta) else self._every()

    async def _pause(self, pause: timedelta) -> None:
        if pause <= NOW:
            await asyncio.sleep(0)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(pause.total_seconds()):
                await self._wake.wait()
        self._wake.clear()


class WakeableService(_Service):
    """Runs a round each time it is woken, from `start` to `stop`. A wake-up during a round leads to another round."""

    def __init__(self, name: str, run: Callable[[], Awaitable[object]], *, failure: str, log: OutageLog) -> None:
        super().__init__(name, failure, log)
        self._run_once = run

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._run_once()
            except Exception:  # noqa: BLE001 - logged, and the next wake-up tries again
                self._log.warning("%s", self._failure)


class BackgroundTasks:
    """One-off tasks of a component. An error is logged with the given message; `stop` cancels the tasks that still run."""

    def __init__(self, failure: str) -> None:
        self._failure = failure
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def wait(self) -> None:
        """Wait until every task that runs now has ended."""
        if self._tasks:
            await asyncio.wait(list(self._tasks))

    async def stop(self) -> None:
        await end_tasks(self._tasks)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("%s", self._failure, exc_info=error)


async def end_tasks(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel the tasks and wait until all of them have ended.

    A cancellation can be lost: `asyncio.wait_for` of Python 3.11 returns the result instead if both arrive at the same
    moment, and database drivers use it. So tasks that have not ended are canceled again.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=CANCEL_AGAIN_AFTER)
