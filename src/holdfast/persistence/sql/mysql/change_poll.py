"""Change notification by polling: MySQL has no LISTEN, so waiting calls poll the number of commits.

One counter that every commit increments would serialise all commits of a cluster. So each connection increments its own row
of `hf_change`, and the sum of all rows is polled. Commits of this process wake waiting calls at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from time import monotonic

from holdfast.persistence.sql.script import Script, execute

_POLL_INTERVAL = 0.05


def count_changes() -> Script[int]:
    rows = yield execute("select cast(sum(value) as signed) from hf_change")
    return int(rows[0][0])


class ChangePoll:
    def __init__(self, count: Callable[[], Awaitable[int]]) -> None:
        self._count = count
        self._waiters: set[asyncio.Event] = set()

    def notify_change(self) -> None:
        for waiter in self._waiters:
            waiter.set()

    async def wait(self, since: int, timeout: timedelta) -> int:
        until = monotonic() + timeout.total_seconds()
        waiter = asyncio.Event()
        self._waiters.add(waiter)
        try:
            while True:
                waiter.clear()
                number, left = await self._count(), until - monotonic()
                if number != since or left <= 0:
                    return number
                try:
                    # Not `wait_for`: before Python 3.12 it may swallow a cancellation that arrives with the event.
                    async with asyncio.timeout(min(left, _POLL_INTERVAL)):
                        await waiter.wait()
                except TimeoutError:
                    continue
        finally:
            self._waiters.discard(waiter)
