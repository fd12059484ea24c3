"""Receipts of takeovers in the journal: the node that died, the node that has the effect now, and the attempt.

A receipt is written before the new attempt starts, since the attempt and the instance may end before a later receipt. A node
that dies in between leaves a queued effect without a receipt; the node that sends the effect again writes it.
"""

from __future__ import annotations

import logging

from holdfast.errors import HoldfastError
from holdfast.model.instance import JournalEntry, JournalEvent
from holdfast.model.stored import InstanceKey
from holdfast.model.work import EffectRow
from holdfast.ports import Store
from holdfast.runtime.commits.instance_reader import InstanceReader
from holdfast.runtime.commits.jobs.effect import TakenOverJob
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.commits.state_codec import decode_journal
from holdfast.runtime.observability.outage_log import AWAY

logger = logging.getLogger("holdfast")

ITS_QUEUE = "its queue"
COMMITS_READ = 1_000
"""Commits that are searched for a receipt, from the latest backwards."""
_BEGINNINGS = (JournalEvent.EFFECT_RECORDED, JournalEvent.TAKEN_OVER)
"""Each attempt begins with one of these entries."""


class TakeoverReceipts:
    def __init__(self, store: Store, reader: InstanceReader, lanes: Lanes) -> None:
        self._store = store
        self._reader = reader
        self._lanes = lanes

    async def write(self, row: EffectRow, *, died: str, by: str, alone: bool = False) -> None:
        """`row` is the effect row after the takeover."""
        key = InstanceKey(row.tenant, row.instance_id)
        job = TakenOverJob(key, row.execution, died=died, by=by, attempt=row.attempt, alone=alone)
        try:
            await self._lanes.ask(job)
        except AWAY:
            raise
        except HoldfastError:  # The effect matters more than its receipt.
            logger.warning("the takeover of an effect of %s could not be journaled", row.instance_id, exc_info=True)

    async def complete(self, row: EffectRow) -> None:
        """Write a missing receipt. The name of the node that died is not known any more."""
        if row.attempt > 1 and not await self._begun(row):
            await self.write(row, died="", by=ITS_QUEUE)

    async def begun_since(self, row: EffectRow, first: int) -> tuple[int, bool]:
        """How many attempts after `first` were begun by takeovers, and whether one before this attempt was isolated. A node
        that died before its receipt began nothing."""
        taken = [entry for entry in await self._beginnings(row) if entry.event is JournalEvent.TAKEN_OVER]
        found = [entry.data for entry in taken if entry.data["attempt"] > first]
        begun = {data["attempt"] for data in found}  # Two nodes may have written the receipt of one attempt.
        return len(begun), any(data.get("alone") and data["attempt"] < row.attempt for data in found)

    async def _begun(self, row: EffectRow) -> bool:
        return any(entry.data.get("attempt") == row.attempt for entry in await self._beginnings(row))

    async def _beginnings(self, row: EffectRow) -> list[JournalEntry]:
        stored = await self._reader.row(InstanceKey(row.tenant, row.instance_id))
        plan = await self._reader.plan(row.tenant, stored.content)
        after = max(0, stored.version - COMMITS_READ)
        segments = await self._store.read_journal(row.tenant, row.instance_id, after=after, limit=COMMITS_READ)
        entries = (entry for segment in segments for entry in decode_journal(segment.data, plan, segment.first))
        return [entry for entry in entries if entry.execution_id == row.execution and entry.event in _BEGINNINGS]
