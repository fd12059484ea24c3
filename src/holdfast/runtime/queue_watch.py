"""Watches queues of the work table: whether a row is due, and waiting until one is due or until any commit.

Each look is one cheap query: every commit of the cluster wakes every node, and nearly always without work for it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta

from holdfast.ports import Store

POLL_INTERVAL = timedelta(milliseconds=250)
"""Longest pause between two looks at the table."""
BUSY_INTERVAL = timedelta(milliseconds=20)
"""Pause between two looks while all due rows are claimed: the commit that ends one of them also ends the pause."""
NOTHING = timedelta(0)


class QueueWatch:
    def __init__(self, store: Store, queues: Sequence[str], lacking: Collection[str] = ()) -> None:
        """`lacking` are the contents that this process cannot run: their rows wait for another process."""
        self._store = store
        self._queues = queues
        self._lacking = lacking
        self._seen_change = 0
        self._until_due = NOTHING

    async def is_due(self) -> bool:
        """Whether a row is due. A node may have claimed the row already."""
        until_due = await self._store.until_due(self._queues, lacking=self._lacking)
        self._until_due = POLL_INTERVAL if until_due is None else until_due
        return self._until_due <= NOTHING

    async def wait(self) -> None:
        """Wait after a look that found no row to take. Rows that are due are claimed then."""
        await self.rest(BUSY_INTERVAL if self._until_due <= NOTHING else min(self._until_due, POLL_INTERVAL))

    async def rest(self, time: timedelta = POLL_INTERVAL) -> None:
        """Wait for the next commit of any node, at most for the given time."""
        self._seen_change = await self._store.wait_for_change(self._seen_change, time)
