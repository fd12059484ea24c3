"""Looks for rows of some queues, and waits for the next: until it is due, or until anybody has committed something.

One question for each look: a node wakes with every commit of the cluster, and nearly always there is nothing for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from holdfast.ports import Store

POLL = timedelta(milliseconds=250)
BREATH = timedelta(milliseconds=20)
"""Between two looks at the table while rows of it are in hand: a commit that ends one is a change, and wakes sooner."""
NOTHING = timedelta(0)


class Lookout:
    def __init__(self, store: Store, queues: Sequence[str]) -> None:
        self._store = store
        self._queues = queues
        self._seen = 0
        self._left = NOTHING

    async def is_due(self) -> bool:
        """Whether there is a row to be taken; it may be in somebody's hands."""
        left = await self._store.until_due(self._queues)
        self._left = POLL if left is None else left
        return self._left <= NOTHING

    async def wait(self) -> None:
        """After a look that came to nothing. Rows that are due are in somebody's hands then."""
        await self.rest(BREATH if self._left <= NOTHING else min(self._left, POLL))

    async def rest(self, time: timedelta = POLL) -> None:
        self._seen = await self._store.wait_for_change(self._seen, time)
