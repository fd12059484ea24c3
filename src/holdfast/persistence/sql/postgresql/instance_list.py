"""Projector of the list of instances, which runs after the commits (rule M7).

Each process projects the commits of all processes, beside other projectors. Before a list is read, all commits so far are
projected, for at most one second.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta
from time import monotonic

from holdfast.errors import StoreUnavailable
from holdfast.persistence.sql.postgresql.connection import STORE_ERRORS, Connection
from holdfast.persistence.sql.postgresql.list_projection import project
from holdfast.persistence.sql.postgresql.pool import Pool
from holdfast.persistence.sql.postgresql.tally_upkeep import merge_tallies

_ROUND_INTERVAL = 0.2
"""Seconds between two rounds. Fewer rounds cost less, and versions in quick succession are listed only once."""
_RETRY_INTERVAL = 1.0
"""Seconds until the next round after an error."""
_MERGE_INTERVAL = 3600.0
"""Seconds between two merges of counters, which follow a round: an idle process merges nothing."""
_PENDING = "select exists (select 1 from hf_unlisted)"

_log = logging.getLogger("holdfast.persistence.postgresql")


class Projector:
    def __init__(self, pool: Pool, pause: float = _ROUND_INTERVAL, merge_interval: float = _MERGE_INTERVAL) -> None:
        self._pool = pool
        self._pause = pause
        self._merge_interval = merge_interval
        self._merged = monotonic()
        self._changed = 0
        """Number of commits of this process."""
        self._listed = 0
        """Value of `_changed` at the start of the last complete round."""
        self._task: asyncio.Task[None] | None = None
        self._running = asyncio.Lock()
        self._stop = asyncio.Event()

    def mark(self) -> None:
        """Schedule a round after a commit."""
        self._changed += 1
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._list_soon(), name="holdfast-projector")

    async def catch_up(self, timeout: timedelta = timedelta(seconds=1)) -> None:
        """Project all commits so far, of any process, as far as the timeout allows. Errors are ignored: the query that follows
        raises them."""
        with suppress(TimeoutError, *STORE_ERRORS):
            async with asyncio.timeout(timeout.total_seconds()), self._pool.connection() as connection:
                if (await connection.fetch(_PENDING))[0][0]:
                    await self._round(connection, wait=True)

    async def close(self) -> None:
        """Run a last round. Another process, or the next start, lists the rest."""
        self._stop.set()
        if self._task is not None:
            await self._task

    async def _list_soon(self) -> None:
        pause = self._pause
        while self._listed != self._changed:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause)
            try:
                async with self._pool.connection() as connection:
                    await self._round(connection, wait=self._stop.is_set())
            except STORE_ERRORS as error:
                # Callers report an unreachable server, so it is only logged as debug here.
                level = logging.DEBUG if isinstance(error, StoreUnavailable) else logging.WARNING
                _log.log(level, "the list of instances could not be updated, it will be retried: %s", error)
                if self._stop.is_set():
                    return
                pause = _RETRY_INTERVAL

    async def _round(self, connection: Connection, *, wait: bool) -> None:
        async with self._running:
            began = self._changed
            if await project(connection, wait=wait):
                self._listed = began
            if monotonic() - self._merged > self._merge_interval:
                self._merged = monotonic()
                await merge_tallies(connection)
