"""Notices writes of other processes to a SQLite file: by wake-ups (`wake_sockets.py`), and by polling as a fallback (M15).

`pragma data_version` tells whether another connection has committed. It is read after a wake-up; without wake-ups 20 ms after a
change, and ever less often while nothing changes, up to once per second. Commits of this process change the number too: a poll
that cannot tell them from writes of others reports a write at most four times per second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from holdfast.model.changes import UNKNOWN
from holdfast.persistence.change_hub import ChangeHub
from holdfast.persistence.sql.sqlite.wake_sockets import WakeSockets

POLL_SECONDS_MIN = 0.02
POLL_SECONDS_MAX = 1.0
_SLOWER = 1.5
"""Factor between two pauses without a change."""
_UNSURE_INTERVAL = 0.25
"""Smallest number of seconds between two reports while this process commits, too."""


class ForeignWrites:
    """Belongs to the event loop that started it. It runs while a component waits for changes."""

    def __init__(self, hub: ChangeHub, sockets: WakeSockets, version: Callable[[], int]) -> None:
        self._hub = hub
        self._sockets = sockets
        self._version = version
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self.own_commits = 0
        """Counted by the writer thread."""
        self._reported = float("-inf")

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        if self._task is not None and not self._task.done() and self._loop is loop and not loop.is_closed():
            return
        self._loop, self._woken = loop, asyncio.Event()
        self._task = loop.create_task(self._run(), name="holdfast-foreign-writes")

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None and self._loop is asyncio.get_running_loop():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        receiver = self._sockets.open()
        try:
            if receiver is not None:
                loop.add_reader(receiver, self._on_wake_up)
            await self._watch()
        finally:
            if receiver is not None:
                loop.remove_reader(receiver)
            self._sockets.close_receiver()

    def _on_wake_up(self) -> None:
        self._sockets.received()
        self._woken.set()

    async def _watch(self) -> None:
        seen, own, pause = self._version(), self.own_commits, POLL_SECONDS_MIN
        self._hub.publish(UNKNOWN)  # A write before the first look would be missed.
        while self._hub.is_used:
            was_woken = await self._pause(pause)
            now, own_now = self._version(), self.own_commits
            if now == seen:
                pause = min(pause * _SLOWER, POLL_SECONDS_MAX)
                continue
            is_foreign = was_woken or own_now == own
            seen, own, pause = now, own_now, POLL_SECONDS_MIN
            if is_foreign or monotonic() - self._reported >= _UNSURE_INTERVAL:
                self._reported = monotonic()
                self._hub.publish(UNKNOWN)

    async def _pause(self, seconds: float) -> bool:
        """Whether a wake-up came."""
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return False
        self._woken.clear()
        return True
