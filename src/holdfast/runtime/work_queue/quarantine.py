"""Working carefully (rule H15): work that kills its process must be counted, or it goes round the cluster for ever.

A node whose predecessor died without goodbye, or that saw a node die in the last minute, takes one row at a time for a minute:
the attempt is written and committed before it runs. After three attempts without an answer the row is a dead letter, and its
instance gets an incident. Effects need no such care: they are always counted, by their row.
"""

from __future__ import annotations

import asyncio
import logging
import time
from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.errors import InstanceNotFound
from holdfast.model.work import WorkRow
from holdfast.runtime.commits import dead_letters
from holdfast.runtime.commits.jobs.base import PoisonJob

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

logger = logging.getLogger("holdfast")

CAREFUL_FOR = timedelta(seconds=60)
ATTEMPTS_MAX = 3
PATIENCE = 30.0
"""Seconds that one row may take before the next is begun: a segment takes milliseconds."""


class Gate:
    """What this node takes in: everything, nothing, or one row at a time."""

    def __init__(self) -> None:
        self.paused = False
        """No new work is taken; what is in hand goes on."""
        self._careful_until = 0.0

    @property
    def careful(self) -> bool:
        return time.monotonic() < self._careful_until

    def be_careful(self) -> None:
        self._careful_until = time.monotonic() + CAREFUL_FOR.total_seconds()


class InHand(set[str]):
    """Ids of rows that this node is at. One may wait until it is done with a row."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[object, asyncio.Future[None]] = {}

    def discard(self, row_id: object, /) -> None:
        super().discard(row_id)
        waiting = self._waiting.pop(row_id, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    async def gone(self, row_id: str) -> None:
        if row_id not in self:
            return
        waiting = self._waiting.get(row_id)
        if waiting is None:
            waiting = self._waiting[row_id] = asyncio.get_running_loop().create_future()
        await asyncio.shield(waiting)


async def take_one(node: Node) -> int:
    """Take one due row up, counted before it runs, and wait for its answer; how many (0 or 1)."""
    async with node.store.claim(node.work_queues, 1, lacking=node.pins.lacking) as claim:
        rows = list(claim.rows)
    return sum([await _attempt(node, row) for row in rows])


async def _attempt(node: Node, row: WorkRow) -> bool:
    """While this node lives and is at it the row is nobody else's: nobody who lives counts as having died of it."""
    leased = await _keep(node, row, row.attempts + 1)
    if leased is None:
        return False  # Somebody else is at it.
    if leased.attempts > ATTEMPTS_MAX:
        await _bury(node, leased)
        return True
    node.uptake.take([leased])
    leased = await _answered(node, leased)
    if leased is not None:
        # An attempt that had an answer killed nobody. Where the row is still there it is due again.
        await node.store.move_work(leased, attempts=row.attempts, due=row.due)
    return True


async def _answered(node: Node, row: WorkRow) -> WorkRow | None:
    """Wait for the row's answer, for a while. The row as this node keeps it; None if it does not any more."""
    until = time.monotonic() + PATIENCE
    leased: WorkRow | None = row
    while leased is not None and time.monotonic() < until:
        try:
            async with asyncio.timeout(node.heart.every):
                await node.uptake.in_hand.gone(row.id)
            return leased
        except TimeoutError:
            leased = await _keep(node, leased, leased.attempts)
    if leased is not None:
        logger.warning("work row %s takes long; the next one is begun beside it", row.id)
    return None


async def _keep(node: Node, row: WorkRow, attempts: int) -> WorkRow | None:
    """Keep others off the row as long as this node would count as alive without another beat."""
    until = await node.store.now() + node.heart.time_to_live
    return await node.store.move_work(row, attempts=attempts, due=until)


async def _bury(node: Node, row: WorkRow) -> None:
    """Three processes died of it."""
    message = (
        f"This work ({row.kind}) ended {ATTEMPTS_MAX} processes that tried it. It is a dead letter now: find what kills the "
        "process (memory, a native library, os._exit), mend it, then replay the letter."
    )
    if await dead_letters.bury(node, row, dead_letters.PROCESS_DIED, message) and row.instance_id is not None:
        logger.error("work row %s of instance %s is a dead letter: it ends processes", row.id, row.instance_id)
        job = PoisonJob(row.instance_id, row.id, message)
        node.submit(job)
        assert job.answer is not None
        try:
            await job.answer
        except InstanceNotFound:
            pass  # It dies of being started: there is nothing yet to carry an incident.
