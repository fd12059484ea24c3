"""Steps of the work table that wait on this node until their limits per value have room.

The intake leases a row in the table before it waits here: the row is due again when the lease ends, on any node. So the rows of
a dead node come back, and no row waits for ever behind other nodes. A step that has ended makes room for the next one of its
values at once. Room that other nodes make is found by trying again after a pause.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from holdfast.model.work import WorkRow
from holdfast.runtime.steps.limits.per_value import Value

LEASE = timedelta(seconds=15)
"""Longest time for which a row waits in memory."""
WAITING_MAX = 5_000
"""Rows of a queue that wait in memory. Others wait in the table until their lease ends."""
RETRY_SECONDS = 0.1
"""Pause until values are tried again that are still waited for."""

Values = tuple[Value, ...]
Most = Callable[[Sequence[Value]], int]
"""How many more steps of these values this node may start at most."""


@dataclass(frozen=True, slots=True)
class WaitingStep:
    row: WorkRow
    values: Sequence[Value]
    lease_ends: float
    """Time of the event loop."""


@dataclass(slots=True)
class _Line:
    """The steps of the same values, in order."""

    steps: deque[WaitingStep] = field(default_factory=deque)
    free: int = 0
    """Places of these values that became free on this node."""
    retry_at: float = 0.0


class WaitingSteps:
    """The waiting steps of one queue."""

    def __init__(self, most: Most) -> None:
        self._most = most
        self._lines: dict[Values, _Line] = {}
        self._ids: set[str] = set()
        self._wake = asyncio.Event()

    def __contains__(self, row_id: str) -> bool:
        return row_id in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, row: WorkRow, values: Sequence[Value], pause: timedelta, lease_ends: float) -> None:
        """Keep a step that has no room; there may be room after the pause."""
        now = asyncio.get_running_loop().time()
        if len(self._ids) >= WAITING_MAX or lease_ends <= now:
            return
        line = self._lines.setdefault(tuple(values), _Line())
        step = WaitingStep(row, values, lease_ends)
        if line.steps and lease_ends < line.steps[0].lease_ends:  # It was tried, and returns to its place.
            line.steps.appendleft(step)
        else:
            line.steps.append(step)
        self._ids.add(row.id)
        line.retry_at = now + pause.total_seconds()
        self._wake.set()

    def has_room(self, values: Sequence[Value]) -> None:
        """A step of these values has ended on this node."""
        for key, line in self._lines.items():
            if any(value in key for value in values):
                line.free += 1
                self._wake.set()

    async def wait(self) -> int:
        """Wait until steps may be tried; returns how many."""
        loop = asyncio.get_running_loop()
        while not (ready := sum(self._ready(key, line, loop.time()) for key, line in self._lines.items())):
            self._wake.clear()
            retry_at = min((line.retry_at for line in self._lines.values()), default=None)
            with suppress(TimeoutError):
                async with asyncio.timeout_at(retry_at):
                    await self._wake.wait()
        return ready

    def take(self, most: int) -> list[WaitingStep]:
        """Remove the steps to try now, at most so many."""
        now = asyncio.get_running_loop().time()
        taken = list[WaitingStep]()
        for key, line in list(self._lines.items()):
            count = min(self._ready(key, line, now), most - len(taken))
            taken += [line.steps.popleft() for _ in range(count)]
            line.free = max(0, line.free - count)
            if line.retry_at <= now:
                line.retry_at = now + RETRY_SECONDS
            if not line.steps:
                del self._lines[key]
        for step in taken:
            self._ids.discard(step.row.id)
        return taken

    def clear(self) -> list[WorkRow]:
        """Remove and return all rows."""
        rows = [step.row for line in self._lines.values() for step in line.steps]
        self._lines.clear()
        self._ids.clear()
        return rows

    def _ready(self, key: Values, line: _Line, now: float) -> int:
        while line.steps and line.steps[0].lease_ends <= now:
            self._ids.discard(line.steps.popleft().row.id)
        if line.retry_at > now:
            return min(line.free, len(line.steps))
        most = min(self._most(key), len(line.steps))
        if most <= 0:
            line.retry_at = now + RETRY_SECONDS
        return max(0, most)
