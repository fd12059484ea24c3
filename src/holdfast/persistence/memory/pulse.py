"""The pulse, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from holdfast.model.pulse import Pulse
from holdfast.model.work import NO_OWNER, Owner
from holdfast.persistence.memory.tables import MemoryStoreBase


class MemoryPulse(MemoryStoreBase):
    async def pulse(self, owner: Owner, queues: Sequence[str]) -> Pulse:
        tables, now = self._tables, self._now()
        wanted = frozenset(queues)
        due: dict[str, timedelta] = {}
        for row in tables.work.values():
            if row.queue in wanted:
                left = timedelta(0) if row.due is None else row.due - now
                due[row.queue] = min(left, due.get(row.queue, left))
        owners = {row.owner for row in tables.effects.values()}
        alive = {node.owner for node in tables.nodes.values() if node.alive_at(now)}
        return Pulse(
            now=now,
            epoch=tables.epoch,
            nodes=sorted(tables.nodes.values(), key=lambda node: node.id),
            until_due=due,
            next_schedule=min((row.due for row in tables.schedules.values() if row.due is not None), default=None),
            has_lost_effects=bool(owners - alive - {NO_OWNER}),
            has_waiting_effects=NO_OWNER in owners,
            has_own_effects=owner in owners,
            has_inbox=bool(tables.inbox),
            has_outbox=bool(tables.outbox),
        )
