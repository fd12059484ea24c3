"""Retries with exponential back-off, jitter and a time limit."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from typing import TypeVar

from holdfast.errors import TransportUnavailable

T = TypeVar("T")

FIRST_PAUSE = timedelta(milliseconds=50)
LONGEST_PAUSE = timedelta(seconds=5)
_FACTOR = 2.0
_JITTER = 0.25
"""Spreads the reconnects of nodes that lost the same broker."""


def pauses(first: timedelta = FIRST_PAUSE, most: timedelta = LONGEST_PAUSE) -> Iterator[timedelta]:
    """Yield growing pauses without end, up to the longest."""
    pause = first
    while True:
        yield pause * random.uniform(1 - _JITTER, 1 + _JITTER)
        pause = min(pause * _FACTOR, most)


async def retrying(
    operation: Callable[[], Awaitable[T]],
    *,
    is_transient: Callable[[BaseException], bool],
    timeout: timedelta,
    what: str,
) -> T:
    """Retry transient errors until the call succeeds. Raise `TransportUnavailable` after `timeout`."""
    loop = asyncio.get_running_loop()
    until = loop.time() + timeout.total_seconds()
    for pause in pauses():
        try:
            async with asyncio.timeout_at(until):
                return await operation()
        except Exception as error:
            if not isinstance(error, TimeoutError) and not is_transient(error):
                raise
            if loop.time() + pause.total_seconds() >= until:
                raise TransportUnavailable(
                    f"{what} did not answer for {timeout.total_seconds():g} s ({type(error).__name__}: {error}). "
                    "Check that it runs and can be reached; the store still has the work."
                ) from error
        await asyncio.sleep(pause.total_seconds())
    raise AssertionError("pauses never end")
