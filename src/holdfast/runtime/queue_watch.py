"""Watches the queues of a node: when it is worth while to look for due rows in the work table (rule M9).

There is one watch per node, for all queues of all tenants. It remembers when the next row of each queue is due, and hears of new
rows by changes of the store. Without a change and without a due row no query is sent: the pulse of the node
(`runtime/cluster/pulse.py`) reads the due times of all queues with one statement, every few seconds, in case a change was lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta

from holdfast.model.changes import Change, queue_topic
from holdfast.model.pulse import Pulse
from holdfast.model.work import WorkRow
from holdfast.ports import Clock, Store

BUSY_SECONDS = 0.02
"""Pause after a look at due rows that could not be claimed: other claims hold them. It doubles with each such look."""
BUSY_SECONDS_MAX = 1.0
HERD_SECONDS = 0.005
"""Pause after a change of another node that left nothing to claim here. It doubles with each such change."""
HERD_SECONDS_MAX = 0.25
OWN_SECONDS = 0.001
"""Time in which the component that added a row takes it itself, without a look at the table."""
NEVER = float("inf")
NOTHING = timedelta(0)

RowKey = tuple[str, str]


class DueRows:
    """The rows of some queues, for the component that claims them."""

    def __init__(self, store: Store, queues: Sequence[str], lacking: Collection[str] = ()) -> None:
        self._store = store
        self.queues = list(queues)
        self._lacking = lacking
        self._look_at = float("-inf")
        """Time of the event loop at which to look; at once after the start."""
        self._added: set[RowKey] = set()
        """Rows of this process that no component here has taken yet."""
        self._added_at = NEVER
        self._looked = float("-inf")
        self._busy = BUSY_SECONDS
        self._herd = 0.0
        self._wake = asyncio.Event()

    async def wait(self) -> None:
        """Wait until it is worth while to look."""
        loop = asyncio.get_running_loop()
        while True:
            now = loop.time()
            if self._added_at <= now:
                self._added_at = NEVER
                if self._added:
                    self._look_at = now
            if self._look_at <= now:
                self._look_at = self._added_at = NEVER
                self._added.clear()
                self._looked = now
                return
            self._wake.clear()
            until = min(self._look_at, self._added_at)
            with suppress(TimeoutError):
                async with asyncio.timeout_at(None if until == NEVER else until):
                    await self._wake.wait()

    async def is_due(self) -> bool:
        """Look whether a row is due. Another claim may hold it."""
        left = await self._store.until_due(self.queues, lacking=self._lacking)
        if left is None or left > NOTHING:
            self._busy = BUSY_SECONDS
            self._herd = min(max(2 * self._herd, HERD_SECONDS), HERD_SECONDS_MAX)
        if left is not None and left > NOTHING:
            self.look_in(left.total_seconds())
        return left is not None and left <= NOTHING

    def took(self, rows: int) -> None:
        """After a claim of due rows. Rows that are due and were not claimed are looked at again after a pause."""
        if rows:
            self._busy, self._herd = BUSY_SECONDS, 0.0
            self.look_in(0)
        else:
            self.look_in(self._busy)
            self._busy = min(2 * self._busy, BUSY_SECONDS_MAX)

    def full(self) -> None:
        """Due rows were not claimed because this node has no room: look again soon."""
        self.look_in(BUSY_SECONDS)

    def look_in(self, seconds: float) -> None:
        at = asyncio.get_running_loop().time() + seconds
        if at < self._look_at:
            self._look_at = at
            self._wake.set()

    def changed(self) -> None:
        """Another node changed these queues. Often that node, or a third one, takes the rows first."""
        now = asyncio.get_running_loop().time()
        self.look_in(max(0.0, self._looked + self._herd - now))

    def added(self, row: WorkRow, seconds: float | None) -> None:
        """This process added a row, due in so many seconds; None: now."""
        if seconds is not None:
            self.look_in(max(0.0, seconds))
            return
        self._added.add((row.tenant, row.id))
        if self._added_at == NEVER:
            self._added_at = asyncio.get_running_loop().time() + OWN_SECONDS
            self._wake.set()

    def taken(self, rows: Iterable[RowKey]) -> None:
        """These rows need no look: the component that added them has taken them."""
        if self._added:
            self._added.difference_update(rows)


class QueueWatch:
    def __init__(self, store: Store, clock: Clock, lacking: Collection[str] = ()) -> None:
        """`lacking` are the contents that this process cannot run: their rows wait for another process."""
        self._store = store
        self._clock = clock
        self._lacking = lacking
        self._ahead = NOTHING
        """How far the clock of the store is ahead of the clock of this node."""
        self._all: list[DueRows] = []
        self._by_queue: dict[str, list[DueRows]] = {}
        self._by_topic: dict[str, list[DueRows]] = {}
        self._end: Callable[[], None] | None = None

    def of(self, queues: Sequence[str]) -> DueRows:
        """The rows of these queues, for one component."""
        found = DueRows(self._store, queues, self._lacking)
        self._all.append(found)
        for queue in queues:
            self._by_queue.setdefault(queue, []).append(found)
            self._by_topic.setdefault(queue_topic(queue), []).append(found)
        return found

    @property
    def queues(self) -> Collection[str]:
        return self._by_queue.keys()

    def start(self) -> None:
        if self._end is None:
            self._end = self._store.subscribe(self._on_change)

    def stop(self) -> None:
        end, self._end = self._end, None
        if end is not None:
            end()

    def pulsed(self, pulse: Pulse) -> None:
        self._ahead = pulse.now - self._clock.now()
        self._learn(pulse.until_due)

    def _learn(self, until_due: Mapping[str, timedelta]) -> None:
        for queue, left in until_due.items():
            for found in self._by_queue.get(queue, ()):
                if left <= NOTHING:
                    found.changed()
                else:
                    found.look_in(left.total_seconds())

    def _on_change(self, change: Change) -> None:
        if change.topics is None:
            for found in self._all:
                found.changed()
        elif change.rows:
            self._on_rows(change.rows)
        elif change.topics:
            for found in {item for topic in change.topics for item in self._by_topic.get(topic, ())}:
                found.changed()

    def _on_rows(self, rows: Sequence[WorkRow]) -> None:
        now = None
        for row in rows:
            for found in self._by_queue.get(row.queue, ()):
                if row.due is None:
                    found.added(row, None)
                else:
                    now = now or self._clock.now() + self._ahead
                    found.added(row, (row.due - now).total_seconds())
