"""Effects that end their process (rule H15): counted by the attempts that were lost, isolated once, then buried.

An effect may lose three attempts with its process. The next attempt runs in isolation, so that no other effect can be the
cause. If its process dies again, the effect fails and a dead letter stands for running it again.
"""

from __future__ import annotations

import logging

from msgspec.structs import replace

from holdfast.execution.record import EffectFailure, EffectRequest
from holdfast.model.stored import InstanceKey
from holdfast.model.work import EffectRow
from holdfast.ports import Store
from holdfast.runtime.commits.dead_letters import PROCESS_DIED, letter
from holdfast.runtime.commits.instance_reader import InstanceReader
from holdfast.runtime.commits.jobs.effect import LostJob
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.commits.work_rows import replay_row
from holdfast.runtime.effects.takeover_receipts import TakeoverReceipts

logger = logging.getLogger("holdfast")

LOST_MAX = 3
"""Attempts that may be lost with their process before an isolated attempt."""
UNJOURNALED_FACTOR = 3
"""Without a journal there are no receipts to count: such an effect is buried after this many times as many lost attempts."""


class PoisonEffects:
    def __init__(self, store: Store, reader: InstanceReader, receipts: TakeoverReceipts, lanes: Lanes) -> None:
        self._store = store
        self._reader = reader
        self._receipts = receipts
        self._lanes = lanes

    async def needs_isolation(self, row: EffectRow) -> bool:
        """Whether the next loss would bury the effect, though it never ran in isolation."""
        if row.attempt <= LOST_MAX:
            return False
        lost, request = await self._lost_after_next(row)
        if request is None or lost <= LOST_MAX or lost > LOST_MAX * UNJOURNALED_FACTOR:
            return False
        begun, was_isolated = await self._receipts.begun_since(replace(row, attempt=row.attempt + 1), request.attempt)
        return begun + 1 > LOST_MAX and not was_isolated

    async def _lost_after_next(self, row: EffectRow) -> tuple[int, EffectRequest | None]:
        """The number of lost attempts after one more loss, counted from the attempt that the state holds."""
        _, live = await self._reader.live(InstanceKey(row.tenant, row.instance_id))
        request = live.effects.get(row.execution)
        return (0, None) if request is None else (row.attempt + 1 - request.attempt, request)

    async def bury_if_poison(self, row: EffectRow, lost: int) -> bool:
        """Fail the effect and add a dead letter, if it has ended too many processes."""
        if not await self._ends_processes(row, lost):
            return False
        message = (
            f"'{row.activity_id}' has ended its process {LOST_MAX} times. Fix the activity, then retry or replay the dead "
            "letter."
        )
        now = await self._store.now()
        dead_letter = letter(replay_row(row, now), PROCESS_DIED, now, message)
        logger.error("an effect of instance %s is a dead letter: '%s' ends processes", row.instance_id, row.activity_id)
        failed = EffectFailure(type="EffectLost", message=message, cause="lost")
        self._lanes.submit(LostJob(InstanceKey(row.tenant, row.instance_id), row.ref, failed, dead_letter))
        return True

    async def _ends_processes(self, row: EffectRow, lost: int) -> bool:
        """Nodes that died between taking and starting the effect died of another cause, so receipts are counted. Without
        receipts the number of attempts decides."""
        if lost <= LOST_MAX:
            return False
        if lost > LOST_MAX * UNJOURNALED_FACTOR:
            return True
        begun, was_isolated = await self._receipts.begun_since(row, row.attempt - lost)
        return begun > LOST_MAX and was_isolated
