"""A background service that does the same again and again. One that fails is logged and tried again: the loop lives on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from holdfast.runtime.observability.outage_log import Outage
from holdfast.runtime.task_end import end


class Rounds:
    def __init__(
        self,
        name: str,
        work: Callable[[], Awaitable[object]],
        every: Callable[[], timedelta],
        failed: str,
        outage: Outage,
    ) -> None:
        self._name = name
        self._work = work
        self._every = every
        self._failed = failed
        """What could not be done, in words for the log."""
        self._outage = outage
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name=f"holdfast-{self._name}")

    async def stop(self) -> None:
        if self._task is not None:
            await end([self._task])
            self._task = None

    async def _run(self) -> None:
        while True:
            try:
                await self._work()
            except Exception:  # noqa: BLE001 - it is told, and tried again
                self._outage.warn("%s", self._failed)
            await asyncio.sleep(self._every().total_seconds())
