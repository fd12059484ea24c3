"""The pulse and the heartbeat on PostgreSQL, one statement each."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from abc import abstractmethod
from base64 import b64decode
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import json

from holdfast.model.cluster import NodeState
from holdfast.model.pulse import Pulse
from holdfast.model.work import NO_OWNER, Owner
from holdfast.persistence.sql.nodes import SqlNodes
from holdfast.persistence.sql.postgresql.claim import NOW
from holdfast.persistence.sql.pulse import LOST, SqlPulse
from holdfast.persistence.sql.script import Rows
from holdfast.persistence.sql.tables import moment
from holdfast.persistence.sql.work_tables import AT_ONCE, NODE

_OWNED = "exists (select 1 from hf_effect where owner_node = {node} and owner_boot = {boot})"
_PULSE = f"""select {NOW}, (select value from hf_counter where name = 'epoch'),
    (select json_agg(json_build_array({", ".join(NODE.names).replace("details", "encode(details, 'base64')")}) order by id)
        from hf_node)::text,
    (select json_object_agg(q.queue, w.due) from unnest($1::text[]) q(queue) cross join lateral (
        select due from hf_work where queue = q.queue order by due, urgency, tenant, id limit 1) w)::text,
    (select min(due) from hf_schedule where due is not null),
    exists ({LOST.format(now=NOW)}),
    {_OWNED.format(node=f"'{NO_OWNER.node}'", boot=NO_OWNER.boot)},
    {_OWNED.format(node="$2", boot="$3")},
    exists (select 1 from hf_inbox), exists (select 1 from hf_outbox)"""
_BEAT = f"update hf_node set heartbeat = {NOW}, state = $3 where id = $1 and boot = $2 returning id"


class PostgresPulse(SqlPulse, SqlNodes):
    @abstractmethod
    async def _fetch(self, sql: str, *values: Any) -> Rows: ...

    async def now(self) -> datetime:
        ((now,),) = await self._fetch(f"select {NOW}")
        return moment(now)

    async def beat(self, owner: Owner, state: NodeState = NodeState.LIVE) -> bool:
        return bool(await self._fetch(_BEAT, owner.node, owner.boot, state.value))

    async def pulse(self, owner: Owner, queues: Sequence[str]) -> Pulse:
        (row,) = await self._fetch(_PULSE, list(queues), owner.node, owner.boot)
        now, epoch, nodes, due, schedule, lost, waiting, owned, inbox, outbox = row
        dues: dict[str, int] = json.decode(due) if due else {}
        return Pulse(
            now=moment(now),
            epoch=epoch,
            nodes=NODE.rows([_node_row(item) for item in json.decode(nodes or "[]")], self._codec),
            until_due={queue: timedelta(microseconds=0 if at == AT_ONCE else at - now) for queue, at in dues.items()},
            next_schedule=None if schedule is None else moment(schedule),
            has_lost_effects=lost,
            has_waiting_effects=waiting,
            has_own_effects=owned,
            has_inbox=inbox,
            has_outbox=outbox,
        )


def _node_row(values: list[Any]) -> tuple[Any, ...]:
    """A row as the driver returns it: JSON has no bytes."""
    return tuple(
        b64decode(value) if name == "details" else value for name, value in zip(NODE.names, values, strict=True)
    )
