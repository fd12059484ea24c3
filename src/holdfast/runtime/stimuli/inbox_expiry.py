"""What is kept of stimuli after the fact, for a week: those that expired (counted and listed, rule H12), and the receipts of
idempotency keys (rule M4)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from holdfast.model.record_rows import RecordQuery, RecordRow
from holdfast.model.values import TypeRegistry, decode
from holdfast.model.work import InboxRow
from holdfast.runtime.commits.work_rows import Stimulus, encoded, read_kept, read_stimulus_bytes

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

RECEIPT = "receipt"
EXPIRED = "expired-stimulus"
KEPT = timedelta(days=7)
PAGE = 100


class ExpiredStimulus(Struct, frozen=True, kw_only=True):
    """A stimulus that nobody came for."""

    id: str
    type: str
    event_name: str | None
    correlation_id: str | None
    key: Any
    arrived: datetime
    expired: datetime


async def note_expired(node: Node, row: InboxRow) -> Stimulus:
    now = node.clock.now()
    found = read_kept(row)
    record = RecordRow(
        tenant=row.tenant,
        kind=EXPIRED,
        id=row.id,
        owner=found.event_name or found.type,
        due=now + KEPT,
        created=now,
        updated=row.arrived,
        payload=encoded(found),
    )
    await node.store.put_record(record)
    return found


async def expired(node: Node, limit: int = 100) -> Sequence[ExpiredStimulus]:
    """Latest first."""
    rows = await node.store.list_records(RecordQuery(tenant=node.tenant, kind=EXPIRED, limit=limit))
    return [_shown(row) for row in rows]


def _shown(row: RecordRow) -> ExpiredStimulus:
    found = read_stimulus_bytes(row.payload)
    return ExpiredStimulus(
        id=found.id,
        type=found.type,
        event_name=found.event_name,
        correlation_id=found.correlation_id,
        key=decode(found.key, TypeRegistry()),
        arrived=row.updated,
        expired=row.created,
    )


async def tidy(node: Node) -> int:
    """Let go what was kept long enough; how many."""
    now = await node.store.now()
    gone = 0
    for kind in (RECEIPT, EXPIRED):
        query = RecordQuery(tenant=node.tenant, kind=kind, due_before=now, limit=PAGE)
        for row in await node.store.list_records(query):
            gone += await node.store.delete_record(node.tenant, kind, row.id)
    return gone
