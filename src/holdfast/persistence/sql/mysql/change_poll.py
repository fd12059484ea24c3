"""Changes of other processes by polling: MySQL has no LISTEN, so one task polls the number of commits.

One counter that every commit increments would serialize all commits of a cluster. So each connection increments its own row
of `hf_change`, and the sum of all rows is polled. The task polls only while a component waits for changes: every 50 ms after a
change, and up to once per second when nothing changes. Commits of this process are published at once, without a poll.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

from holdfast.errors import StoreError
from holdfast.model.changes import UNKNOWN, Change
from holdfast.persistence.change_hub import ChangeHub, OnChange
from holdfast.persistence.sql.script import Script, execute

POLL_SECONDS_MIN = 0.05
POLL_SECONDS_MAX = 1.0
_SLOWER = 1.5
"""Factor between two pauses without a change."""

_log = logging.getLogger("holdfast.persistence.mysql")


def count_changes() -> Script[int]:
    rows = yield execute("select cast(sum(value) as signed) from hf_change")
    return int(rows[0][0])


class ChangePoll:
    def __init__(self, count: Callable[[], Awaitable[int]]) -> None:
        self._count = count
        self._hub = ChangeHub()
        self._own = 0
        """Commits of this process."""
        self._task: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()

    def changed(self, change: Change) -> None:
        """This process has committed."""
        self._own += 1
        self._hub.publish(change)

    def subscribe(self, on_change: OnChange) -> Callable[[], None]:
        self._start()
        return self._hub.subscribe(on_change)

    async def wait(self, since: int, timeout: timedelta) -> int:
        if timeout > timedelta(0) and self._hub.number == since:
            self._start()
        return await self._hub.wait(since, timeout)

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _start(self) -> None:
        self._hurry.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="holdfast-change-poll")

    async def _run(self) -> None:
        seen, pause = None, POLL_SECONDS_MIN
        while True:
            try:
                others = await self._count() - self._own
            except StoreError as error:
                _log.debug("the changes of other processes could not be read: %s", error)
            else:
                # None: a change before the first poll would be missed.
                if seen is None or others > seen:
                    self._hub.publish(UNKNOWN)
                    pause = POLL_SECONDS_MIN
                seen = others
            self._hurry.clear()
            try:
                async with asyncio.timeout(pause):
                    await self._hurry.wait()
                pause = POLL_SECONDS_MIN  # A component begins to wait: a change is likely.
            except TimeoutError:
                pause = min(pause * _SLOWER, POLL_SECONDS_MAX)
            if not self._hub.is_used:
                return
