"""Quarantine of work that ends processes (rule H15): one row at a time, counted before it runs.

A node whose predecessor died, that starts beside a dead node of its machine, or that saw another node die within the last
minute, takes one row at a time for a minute. Each attempt is committed before the row runs. After three attempts without an
answer the row becomes a dead letter, and its instance gets an incident. Effects need no such care: their row counts every
attempt.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Protocol

from holdfast.errors import InstanceNotFound
from holdfast.model.stored import InstanceKey
from holdfast.model.work import WorkKind, WorkRow
from holdfast.ports import Store
from holdfast.runtime.commits import dead_letters
from holdfast.runtime.commits.dead_letters import DeadLetters
from holdfast.runtime.commits.jobs.effect import PoisonJob
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.work_queue.poller import Poller
from holdfast.runtime.work_queue.rows_in_hand import row_key

logger = logging.getLogger("holdfast")

ATTEMPTS_MAX = 3
ROW_SECONDS_MAX = 30.0
"""Time that one row may take before the next one starts beside it; a segment takes milliseconds."""


class KeptMail(Protocol):
    """Work rows that deliver a stimulus of the inbox: the dead letter replaces the stimulus, not only the row."""

    def counts(self, row: WorkRow) -> bool: ...

    async def bury(self, row: WorkRow, message: str) -> bool: ...


class Quarantine:
    def __init__(
        self,
        store: Store,
        poller: Poller,
        plans: Plans,
        lanes: Lanes,
        letters: DeadLetters,
        mail: KeptMail,
        liveness: Liveness,
    ) -> None:
        self._store = store
        self._poller = poller
        self._plans = plans
        self._lanes = lanes
        self._letters = letters
        self._mail = mail
        self._liveness = liveness

    async def take_one(self) -> int:
        """Take one due row, count its attempt, run it and wait for its answer; returns 0 or 1."""
        async with self._store.claim(self._poller.queues, 1, lacking=self._plans.lacking) as claim:
            rows = list(claim.rows)
        return sum([await self._attempt(row) for row in rows])

    async def _attempt(self, row: WorkRow) -> bool:
        """The row is leased while this node runs it, so a live node never counts as killed by it.

        The attempt is written before the run and taken back after any answer, also the answer that this process lacks the
        code: only attempts of processes that ended during the run stay.
        """
        leased = await self._lease(row, row.attempts + 1)
        if leased is None:
            return False  # Another node has the row.
        if leased.attempts > ATTEMPTS_MAX:
            await self._bury(leased)
            return True
        self._poller.take_leased(row)
        leased = await self._wait_answered(leased)
        answered = self._poller.end_lease(row)
        if leased is not None:  # If the row still exists, it is written back as its run left it.
            await self._store.move_work(leased, attempts=answered.attempts, due=answered.due, content=answered.content)
        return True

    async def _wait_answered(self, row: WorkRow) -> WorkRow | None:
        """Wait for the answer of the row, within a limit. Returns the leased row, or None if the lease ended."""
        until = time.monotonic() + ROW_SECONDS_MAX
        leased: WorkRow | None = row
        while leased is not None and time.monotonic() < until:
            try:
                async with asyncio.timeout(self._liveness.beat_seconds):
                    await self._poller.in_hand.wait_done(row_key(row))
                return leased
            except TimeoutError:
                leased = await self._lease(leased, leased.attempts)
        if leased is not None:
            logger.warning("work row %s takes long; the next one starts beside it", row.id)
        return None

    async def _lease(self, row: WorkRow, attempts: int) -> WorkRow | None:
        """Keep other nodes off the row for as long as this node counts as alive without another heartbeat."""
        until = await self._store.now() + self._liveness.time_to_live
        return await self._store.move_work(row, attempts=attempts, due=until)

    async def _bury(self, row: WorkRow) -> None:
        message = (
            f"This work ({row.kind}) ended {ATTEMPTS_MAX} processes that tried it. It is a dead letter now: find what kills the "
            "process (memory, a native library, os._exit), fix it, then replay the dead letter."
        )
        if row.kind == WorkKind.MAIL and self._mail.counts(row):
            buried = await self._mail.bury(row, message)
        else:
            buried = await self._letters.bury(row, dead_letters.PROCESS_DIED, message)
        if buried and row.instance_id is not None:
            logger.error("work row %s of instance %s is a dead letter: it ends processes", row.id, row.instance_id)
            try:
                await self._lanes.ask(PoisonJob(InstanceKey(row.tenant, row.instance_id), row.id, message))
            except InstanceNotFound:
                pass  # The start itself ends processes: there is no instance yet to carry an incident.
