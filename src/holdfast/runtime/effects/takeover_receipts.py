"""Receipts of takeovers, in the journal of the instance: whose effect it was, who has it now, which attempt that is.

A receipt is written before anybody goes on with the effect, since the new attempt may be over, and the instance with it,
before a later one is. A node that dies between the two leaves an effect on its queue without one; whoever sends it again
writes it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError
from holdfast.model.instance import JournalEntry, JournalEvent
from holdfast.model.work import EffectRow
from holdfast.runtime.commits.jobs.base import TakenOverJob
from holdfast.runtime.commits.state_codec import decode_journal
from holdfast.runtime.observability.outage_log import AWAY

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

logger = logging.getLogger("holdfast")

ITS_QUEUE = "its queue"
COMMITS_READ = 1_000
"""How far back a receipt is looked for."""
_BEGINNINGS = (JournalEvent.EFFECT_RECORDED, JournalEvent.TAKEN_OVER)
"""Each attempt begins with one of them."""


class Receipts:
    def __init__(self, node: Node) -> None:
        self._node = node

    async def write(self, row: EffectRow, *, died: str, by: str, alone: bool = False) -> None:
        """`row` as it is after it changed hands."""
        job = TakenOverJob(row.instance_id, row.execution, died=died, by=by, attempt=row.attempt, alone=alone)
        assert job.answer is not None
        self._node.submit(job)
        try:
            await job.answer
        except AWAY:
            raise
        except HoldfastError:  # The effect matters more than its receipt.
            logger.warning("the takeover of an effect of %s could not be noted", row.instance_id, exc_info=True)

    async def complete(self, row: EffectRow) -> None:
        """Write the one that is missing, if it is. Its node's name died with the one who knew it."""
        if row.attempt > 1 and not await self._begun(row):
            await self.write(row, died="", by=ITS_QUEUE)

    async def begun_since(self, row: EffectRow, first: int) -> tuple[int, bool]:
        """How many attempts after the first were begun by nodes that took it over: one that died before its receipt began
        nothing. And whether one before this had its process for itself."""
        taken = [entry for entry in await self._beginnings(row) if entry.event is JournalEvent.TAKEN_OVER]
        found = [entry.data for entry in taken if entry.data["attempt"] > first]
        return len(found), any(data.get("alone") and data["attempt"] < row.attempt for data in found)

    async def _begun(self, row: EffectRow) -> bool:
        return any(entry.data.get("attempt") == row.attempt for entry in await self._beginnings(row))

    async def _beginnings(self, row: EffectRow) -> list[JournalEntry]:
        node = self._node
        stored = await node.row(row.instance_id)
        plan = await node.pins.plan(stored.content)
        after = max(0, stored.version - COMMITS_READ)
        segments = await node.store.read_journal(row.tenant, row.instance_id, after=after, limit=COMMITS_READ)
        entries = (entry for segment in segments for entry in decode_journal(segment.data, plan, segment.first))
        return [entry for entry in entries if entry.execution_id == row.execution and entry.event in _BEGINNINGS]
