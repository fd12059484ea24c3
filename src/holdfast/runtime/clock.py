"""The clock of this machine, corrected by the clock of the store.

The store's clock decides when rows are due and whether nodes are alive; an instance computes times with the clock of its node.
If the two differed by minutes, a sleep of seconds would end at once on one node and very late on another. So a node reads the
store's clock with each heartbeat, and follows it if the clock of the machine is wrong.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from holdfast.ports import Clock, Store

logger = logging.getLogger("holdfast")

TOLERATED_NS = 250_000_000
"""Differences up to this are ignored: clocks that are synchronized over a network differ by less."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class SystemClock:
    now_ns: Callable[[], int]

    def __init__(self, machine_ns: Callable[[], int] = time.time_ns) -> None:
        self.machine_ns = machine_ns
        """Nanoseconds since 1970 by the clock of this machine, uncorrected."""
        self.now_ns = machine_ns
        self._apart_ns = 0

    def now(self) -> datetime:
        return _EPOCH + timedelta(microseconds=self.now_ns() // 1000)

    async def wait_until(self, moment: datetime) -> None:
        await asyncio.sleep(max(0.0, (moment - self.now()).total_seconds()))

    def follow(self, there: datetime, asked_ns: int, answered_ns: int) -> None:
        """Follow the clock of the store, which returned `there` to a query sent at `asked_ns` and answered at `answered_ns`."""
        doubt_ns = (answered_ns - asked_ns) // 2
        apart_ns = (there - _EPOCH) // _MICROSECOND * 1000 - asked_ns - doubt_ns
        if abs(apart_ns - self._apart_ns) <= TOLERATED_NS + doubt_ns:
            return
        if abs(apart_ns) <= TOLERATED_NS + doubt_ns:
            self._apart_ns, self.now_ns = 0, self.machine_ns
            logger.warning("the clock of this machine agrees with the store again")
            return
        self._apart_ns, self.now_ns = apart_ns, lambda: self.machine_ns() + apart_ns
        seconds, way = abs(apart_ns) / 1e9, "behind" if apart_ns > 0 else "ahead of"
        logger.warning(
            "the clock of this machine is %.1f seconds %s the clock of the store, which this node follows. "
            "Synchronize it (NTP).",
            seconds,
            way,
        )


async def follow_store(clock: Clock, store: Store) -> None:
    """Correct the system clock by the clock of the store. Any other clock was configured on purpose and is not changed."""
    if isinstance(clock, SystemClock):
        asked_ns = clock.machine_ns()
        there = await store.now()
        clock.follow(there, asked_ns, clock.machine_ns())
