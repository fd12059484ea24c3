"""Virtual clock for tests: moved by the test, or jumps to the next awaited moment."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from holdfast.model.instance import moment

START = datetime(2030, 1, 1, tzinfo=UTC)

_SECOND_NS = 1_000_000_000

_TURNS = 50
"""Event loop turns for other tasks before the clock jumps."""


class VirtualClock:
    """Clock that stands still until it is moved.

    With `jump` (the default), waiting for a moment moves the clock there and returns, after all tasks that need no real
    time have run. Without `jump`, waiters sleep until the test calls `advance` or `set`.
    """

    def __init__(self, start: datetime = START, *, jump: bool = True) -> None:
        self._now_ns = _nanoseconds(start)
        self._jump = jump
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self.waits: list[datetime] = []
        """All awaited moments, in order of the calls."""
        self._wait_counts: list[tuple[int, asyncio.Future[None]]] = []

    def now_ns(self) -> int:
        return self._now_ns

    def now(self) -> datetime:
        return moment(self._now_ns)

    async def wait_until(self, moment: datetime) -> None:
        due = _nanoseconds(moment)
        self.waits.append(moment)
        self._wake(self._wait_counts, len(self.waits))
        if self._jump:
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            self._now_ns = max(self._now_ns, due)
        elif due > self._now_ns:
            await self._sleep(self._waiting, due)

    # -- for the test --------------------------------------------------------------------------------------------------

    def advance(self, by: timedelta) -> None:
        """Move the clock forward and wake the waiters that are due."""
        self._now_ns += int(by / timedelta(microseconds=1)) * 1_000
        self._wake(self._waiting, self._now_ns)

    def set(self, moment: datetime) -> None:
        self.advance(moment - self.now())

    async def waited(self, times: int = 1) -> None:
        """Return once `wait_until` has been called that often."""
        if len(self.waits) < times:
            await self._sleep(self._wait_counts, times)

    @staticmethod
    async def _sleep(sleepers: list[tuple[int, asyncio.Future[None]]], until: int) -> None:
        future = asyncio.get_running_loop().create_future()
        sleeper = (until, future)
        sleepers.append(sleeper)
        try:
            await future
        finally:
            if sleeper in sleepers:
                sleepers.remove(sleeper)

    @staticmethod
    def _wake(sleepers: list[tuple[int, asyncio.Future[None]]], reached: int) -> None:
        for until, future in list(sleepers):
            if until <= reached and not future.done():
                future.set_result(None)


def _nanoseconds(at: datetime) -> int:
    since = at.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since // timedelta(microseconds=1)) * (_SECOND_NS // 1_000_000)
