"""Tasks that plugins bring: once at start, and again and again. A recurring task that fails is logged and runs again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from msgspec import Struct

from holdfast.ports import Clock

logger = logging.getLogger("holdfast")

Task = Callable[[], Awaitable[None]]


class Recurring(Struct, frozen=True):
    name: str
    every: timedelta
    task: Task


class Background:
    def __init__(self, clock: Clock, at_start: Sequence[Task], recurring: Sequence[Recurring]) -> None:
        self._clock = clock
        self._at_start = at_start
        self._recurring = recurring
        self._running: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Run the start-up tasks one after the other (one that fails keeps the engine from starting), then the others."""
        for task in self._at_start:
            await task()
        loop = asyncio.get_running_loop()
        self._running = [loop.create_task(self._repeat(item), name=f"holdfast-{item.name}") for item in self._recurring]

    async def stop(self) -> None:
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)
        self._running = []

    async def _repeat(self, item: Recurring) -> None:
        while True:
            await self._clock.wait_until(self._clock.now() + item.every)
            try:
                await item.task()
            except Exception:
                logger.exception("The recurring task '%s' failed; it runs again in %s.", item.name, item.every)
