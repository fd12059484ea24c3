"""The end of tasks that run for ever.

A cancellation can be lost: `asyncio.wait_for` of Python 3.11 gives back the result instead, if that arrives at the same moment,
and drivers use it. Whoever then waits for the task waits for ever. So it is said again until it is heard.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

AGAIN = 5.0
"""Seconds until it is said again: a task that has heard it may take a while to leave its connections in order."""


async def end(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel all of them, and wait until they have ended."""
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=AGAIN)
