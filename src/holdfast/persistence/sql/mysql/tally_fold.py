"""Adds the changes in hf_tally_delta to the counters in hf_tally, some time after the commits of this process."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress

from holdfast.errors import StoreError, StoreUnavailable
from holdfast.model.listing import HOURS_KEPT
from holdfast.persistence.sql.mysql.tally_deltas import KEY
from holdfast.persistence.sql.script import Script, Value, execute, execute_many, marks
from holdfast.persistence.sql.search import HOUR

BATCH = 1000
"""Rows of one transaction."""
_INTERVAL = 1.0
"""Seconds between two rounds."""
_ROUNDS_PER_PRUNE = 3600
_OLD = HOURS_KEPT.total_seconds() // 3600
_TAKE = f"select number, {KEY}, value from hf_tally_delta order by number limit {BATCH} for update skip locked"
_ADD = f"""insert into hf_tally ({KEY}, value) values ({marks(8)})
    on duplicate key update value = value + values(value)"""
_PRUNE = f"""delete from hf_tally where value = 0
    or (hour >= 0 and hour < floor(unix_timestamp(now(6)) * 1000000 / {HOUR}) - ?)"""

_log = logging.getLogger("holdfast.persistence.mysql")


def fold() -> Script[int]:
    """Add some changes to the counters; returns their number. Counters are locked in the order of their keys."""
    rows = yield execute(_TAKE)
    if not rows:
        return 0
    changes: Counter[tuple[Value, ...]] = Counter()
    for _, *key, value in rows:
        changes[tuple(key)] += int(value)
    added = sorted((*key, value) for key, value in changes.items() if value)
    if added:
        yield execute_many(_ADD, added)
    yield execute(f"delete from hf_tally_delta where number in ({marks(len(rows))})", *(row[0] for row in rows))
    return len(rows)


def prune() -> Script[None]:
    """Delete counters that are zero, and hours that are no longer shown."""
    yield execute(_PRUNE, int(_OLD))


class TallyFolder:
    def __init__(
        self, write: Callable[[Callable[[], Script[int | None]]], Awaitable[int | None]], pause: float = _INTERVAL
    ) -> None:
        """`write` runs a script in one transaction."""
        self._write = write
        self._pause = pause
        self._is_marked = False
        self._rounds = 0
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    def mark(self) -> None:
        """Schedule a round after a commit."""
        self._is_marked = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="holdfast-tally-folder")

    async def close(self) -> None:
        """Run a last round. Changes that it leaves are added by another process, or after the next start."""
        self._stop.set()
        if self._task is not None:
            await self._task
        self._task = None
        self._stop = asyncio.Event()  # The store may be opened again, in another event loop.

    async def _run(self) -> None:
        while self._is_marked:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), self._pause)
            self._is_marked = False
            try:
                await self._round()
            except StoreError as error:
                # Callers report an unreachable server, so it is only logged as debug here.
                level = logging.DEBUG if isinstance(error, StoreUnavailable) else logging.WARNING
                _log.log(level, "the counters of instances could not be updated, it will be retried: %s", error)

    async def _round(self) -> None:
        while await self._write(fold) == BATCH:
            pass
        self._rounds += 1
        if self._rounds % _ROUNDS_PER_PRUNE == 0:
            await self._write(prune)
