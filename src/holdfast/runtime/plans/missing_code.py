"""Records of missing code: what each node cannot run, and an incident for each cause that no node can run (rule H10).

A cause is the missing code of a version, or a class that the state of instances needs (`obstacles.py`). Only nodes that take
work of the tenant and of the queue count: a process without a worker may have the code, but it runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct

from holdfast.model.cluster import NodeRow, NodeState
from holdfast.model.node_details import read_details
from holdfast.model.record_rows import RecordQuery
from holdfast.model.work import DEFAULT_QUEUE, Owner
from holdfast.ports import Store
from holdfast.runtime.plans.obstacles import content_of

LACKING = "lacking-code"
"""Kind of the records of nodes that cannot run something; id `<name of the obstacle>@<node>`."""
MISSING = "missing-code"
"""Kind of the incidents: obstacles that no live node passes; id `<name of the obstacle>`."""

INCIDENT_AFTER = timedelta(minutes=5)
"""Time for which every live node must lack the code before an incident is opened."""
REMEDY = "Deploy the module again, keep the old name as an alias (@activity(aliases=[…])), or migrate the instances."
RECORDS_MAX = 1_000
"""Records that one query reads."""
WAITING_SHOWN = 5


class MissingCode(Struct, frozen=True, kw_only=True):
    """The incident of a cause that no live node can run."""

    content: str
    definition_id: str
    version: int
    since: datetime
    instances: int
    """Number of instances that wait, as the node that opened the incident knows; they stay as they are."""
    reason: str
    remedy: str = REMEDY
    name: str = ""
    """The name of the obstacle; empty in records of earlier releases, which know only missing code."""
    waiting: tuple[str, ...] = ()
    """Some of the instances that wait."""


class Lacking(Struct, frozen=True, kw_only=True):
    """What a node cannot run."""

    reason: str
    remedy: str = REMEDY
    queue: str = DEFAULT_QUEUE
    instances: int = 0
    waiting: tuple[str, ...] = ()
    since: datetime


async def missing_code(store: Store, tenant: str) -> list[MissingCode]:
    """The incidents of causes that no live node can run, the latest first."""
    rows = await store.list_records(RecordQuery(tenant=tenant, kind=MISSING, limit=RECORDS_MAX))
    return [msgspec.json.decode(row.payload, type=MissingCode) for row in rows]


async def lacking_code(store: Store, tenant: str) -> dict[str, Lacking]:
    """Obstacles that no live node passes, by name. `since` is the time when the last node found the obstacle."""
    now = await store.now()
    rows = await store.list_records(RecordQuery(tenant=tenant, kind=LACKING, limit=RECORDS_MAX))
    if not rows:
        return {}
    nodes = await store.list_nodes()
    found: dict[str, Lacking] = {}
    for name in {str(row.owner) for row in rows}:
        by_node = {(row.id.rpartition("@")[2], row.state): row for row in rows if row.owner == name}
        lacking = {node: read_lacking(row.payload, row.created) for node, row in by_node.items()}
        queues = {item.queue for item in lacking.values()}
        for queue in sorted(queues):
            takers = {(owner.node, str(owner.boot)) for owner in takers_of(nodes, now, tenant, queue)}
            if takers and takers <= lacking.keys():
                found[name] = max((lacking[node] for node in takers), key=lambda item: item.since)
    return found


def takers_of(nodes: Iterable[NodeRow], now: datetime, tenant: str, queue: str) -> list[Owner]:
    """The live nodes that take work of a tenant from a queue."""
    live = [row for row in nodes if row.alive_at(now) and row.state is NodeState.LIVE]
    details = [(row.owner, read_details(row.details)) for row in live]
    return [owner for owner, known in details if known.serves(tenant) and queue in known.queues]


def read_lacking(payload: bytes, since: datetime) -> Lacking:
    """An earlier release wrote only the reason."""
    try:
        return msgspec.json.decode(payload, type=Lacking)
    except msgspec.DecodeError:
        return Lacking(reason=payload.decode(errors="replace"), since=since)


def incident(name: str, lacking: Lacking, definition_id: str, version: int) -> MissingCode:
    return MissingCode(
        content=content_of(name),
        definition_id=definition_id,
        version=version,
        since=lacking.since,
        instances=lacking.instances,
        reason=lacking.reason,
        remedy=lacking.remedy,
        name=name,
        waiting=lacking.waiting,
    )
