"""The pulse: answers to the periodic questions of a node, in one snapshot."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from holdfast.model.pulse import Pulse
from holdfast.model.work import NO_OWNER, Owner
from holdfast.persistence.sql.script import Script, execute
from holdfast.persistence.sql.store_base import SqlStoreBase
from holdfast.persistence.sql.tables import moment
from holdfast.persistence.sql.work_tables import AT_ONCE, NODE

DEAD = "(n.state = 'left' or n.heartbeat + n.time_to_live <= {now})"
LOST = f"""select 1 from hf_node n where exists (
    select 1 from hf_effect e where e.owner_node = n.id and e.owner_boot < n.boot
) or ({DEAD} and exists (select 1 from hf_effect e where e.owner_node = n.id and e.owner_boot = n.boot))"""
"""Nodes that own effects and are not alive, by the index of owners: the number of running effects does not matter. A new boot
replaces the row of the last one. A node without a row owns no effects (`forget_nodes`)."""
OWNED = "select 1 from hf_effect where owner_node = ? and owner_boot = ?"


class SqlPulse(SqlStoreBase):
    async def pulse(self, owner: Owner, queues: Sequence[str]) -> Pulse:
        return await self._read(self._pulse(owner, queues))

    def _pulse(self, owner: Owner, queues: Sequence[str]) -> Script[Pulse]:
        now = yield from self._micros_now()
        epoch = yield from self._epoch()
        nodes = NODE.rows((yield execute(NODE.select + " order by id")), self._codec)
        due: dict[str, timedelta] = {}
        for queue in queues:
            first = yield from self._first_due(queue)
            if first is not None:
                due[queue] = timedelta(microseconds=first - now)
        ((schedule,),) = yield execute("select min(due) from hf_schedule where due is not null")
        return Pulse(
            now=moment(now),
            epoch=epoch,
            nodes=nodes,
            until_due=due,
            next_schedule=None if schedule is None else moment(schedule),
            has_lost_effects=(yield from _exists(LOST.format(now="?"), now)),
            has_waiting_effects=(yield from _exists(OWNED, *NO_OWNER)),
            has_own_effects=(yield from _exists(OWNED, *owner)),
            has_inbox=(yield from _exists("select 1 from hf_inbox")),
            has_outbox=(yield from _exists("select 1 from hf_outbox")),
        )

    def _first_due(self, queue: str) -> Script[int | None]:
        """A row without a due time is due now."""
        rows = yield execute("select 1 from hf_work where queue = ? and due = ? limit 1", queue, AT_ONCE)
        if rows:
            return 0
        rows = yield execute(
            "select due from hf_work where queue = ? and due > ? order by due, urgency, tenant, id limit 1",
            queue,
            AT_ONCE,
        )
        return rows[0][0] if rows else None


def _exists(sql: str, *values: str | int) -> Script[bool]:
    rows = yield execute(sql + " limit 1", *values)
    return bool(rows)
