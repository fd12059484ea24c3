"""Tasks of plugins: start-up tasks run once, recurring tasks run in intervals of the application's clock.

A recurring task that fails is logged and runs again after its interval. These tasks need no store, so an application without
a store runs them too; tests advance them with a virtual clock.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from msgspec import Struct

from holdfast.ports import Clock
from holdfast.runtime.service import end_tasks

logger = logging.getLogger("holdfast")

Task = Callable[[], Awaitable[None]]


class RecurringTask(Struct, frozen=True):
    name: str
    every: timedelta
    task: Task


class PluginTasks:
    def __init__(self, clock: Clock, at_start: Sequence[Task], recurring: Sequence[RecurringTask]) -> None:
        self._clock = clock
        self._at_start = at_start
        self._recurring = recurring
        self._running: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Run the start-up tasks one after the other, then start the recurring ones. An error of a start-up task is raised."""
        for task in self._at_start:
            await task()
        loop = asyncio.get_running_loop()
        self._running = [loop.create_task(self._repeat(item), name=f"holdfast-{item.name}") for item in self._recurring]

    async def stop(self) -> None:
        await end_tasks(self._running)
        self._running = []

    async def _repeat(self, item: RecurringTask) -> None:
        while True:
            # The clock decides, not the event loop: `PeriodicService` would ignore a virtual clock.
            await self._clock.wait_until(self._clock.now() + item.every)
            try:
                await item.task()
            except Exception:
                logger.exception("The recurring task '%s' failed; it runs again in %s.", item.name, item.every)
