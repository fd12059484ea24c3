"""Delivers changes of a store inside one process: to subscribers, and to calls that wait for any change.

Subscribers and waiting calls belong to the event loop that they came from. A store whose writer is a thread publishes from that
thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial

from holdfast.model.changes import Change

OnChange = Callable[[Change], None]


class ChangeHub:
    def __init__(self) -> None:
        self.number = 0
        """Grows with every change."""
        self._subscribers: dict[object, tuple[OnChange, asyncio.AbstractEventLoop]] = {}
        self._want_anything: set[object] = set()
        self._waiters: dict[asyncio.Future[None], asyncio.AbstractEventLoop] = {}

    @property
    def is_used(self) -> bool:
        return bool(self._subscribers or self._waiters)

    @property
    def wants_anything(self) -> bool:
        """Whether a caller waits for changes without a topic, too."""
        return bool(self._waiters or self._want_anything)

    def subscribe(self, on_change: OnChange, *, anything: bool = False) -> Callable[[], None]:
        """Returns the function that ends the subscription."""
        key = object()
        self._subscribers[key] = (on_change, asyncio.get_running_loop())
        if anything:
            self._want_anything.add(key)

        def end() -> None:
            self._subscribers.pop(key, None)
            self._want_anything.discard(key)

        return end

    async def wait(self, since: int, timeout: timedelta) -> int:
        """The number, as soon as it differs from `since`, at the latest after the timeout."""
        if self.number == since and timeout > timedelta(0):
            loop = asyncio.get_running_loop()
            waiter = loop.create_future()
            self._waiters[waiter] = loop
            try:
                # Not `wait_for`: before Python 3.12 it may swallow a cancellation that arrives with the result.
                with suppress(TimeoutError):
                    async with asyncio.timeout(timeout.total_seconds()):
                        await waiter
            finally:
                self._waiters.pop(waiter, None)
        return self.number

    def publish(self, change: Change) -> None:
        """Deliver a change on the event loop of the caller."""
        self.number += 1
        if self._waiters:
            for waiter in list(self._waiters):
                _wake(waiter)
        for on_change, _ in list(self._subscribers.values()):
            on_change(change)

    def publish_from_thread(self, change: Change) -> None:
        """Deliver a change on the event loops of its receivers."""
        self.number += 1
        for waiter, loop in list(self._waiters.items()):
            _call(loop, partial(_wake, waiter))
        for on_change, loop in list(self._subscribers.values()):
            _call(loop, partial(on_change, change))


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


def _call(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # The loop is closed.
        loop.call_soon_threadsafe(callback)
