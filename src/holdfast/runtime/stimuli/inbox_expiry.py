"""Records about stimuli that are stored for a week: expired stimuli (rule H12) and receipts of idempotency keys (rule M4).

An expired stimulus can be replayed: it is then matched again, as if it had just been sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.model.record_rows import RecordQuery, RecordRow
from holdfast.model.values import TypeRegistry, decode
from holdfast.model.work import InboxRow, WorkRow
from holdfast.ports import Clock, Store
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.work_rows import Stimulus, encoded, read_inbox_row, read_stimulus_bytes

RECEIPT = "receipt"
EXPIRED = "expired-stimulus"
REPLAYED = "replayed"
"""State of the record of a stimulus that was replayed; it is not listed."""
RETENTION = timedelta(days=7)
PAGE = 100


class ExpiredStimulus(Struct, frozen=True, kw_only=True):
    """A stimulus that no instance received."""

    id: str
    type: str
    event_name: str | None
    correlation_id: str | None
    key: Any
    arrived: datetime
    expired: datetime


class InboxExpiry:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def record(self, row: InboxRow) -> Stimulus:
        """Record an expired inbox row."""
        now = self._clock.now()
        found = read_inbox_row(row)
        record = RecordRow(
            tenant=row.tenant,
            kind=EXPIRED,
            id=row.id,
            owner=found.event_name or found.type,
            due=now + RETENTION,
            created=now,
            updated=row.arrived,
            payload=encoded(found),
        )
        await self._store.put_record(record)
        return found

    async def list(self, tenant: str, limit: int = 100) -> Sequence[ExpiredStimulus]:
        """Expired stimuli, latest first."""
        query = RecordQuery(tenant=tenant, kind=EXPIRED, states=("",), limit=limit)
        return [_expired(row) for row in await self._store.list_records(query)]

    async def replay(self, tenant: str, ids: Sequence[str]) -> Sequence[WorkRow]:
        """Send expired stimuli again, each under a new id; returns the work rows. Ids that are unknown or were replayed before
        are left out."""
        sent: list[WorkRow] = []
        for name in dict.fromkeys(ids):
            row = await self._store.get_record(tenant, EXPIRED, name)
            if row is None or row.state == REPLAYED:
                continue
            now = self._clock.now()
            again = replace(read_stimulus_bytes(row.payload), id=f"{name}.r{row.version}")
            work = work_rows.stimulus(tenant, again, now)
            replayed = replace(row, version=row.version + 1, state=REPLAYED, updated=now)
            if await self._store.put_record(replayed, [work]):
                sent.append(work)
        return sent

    async def remove_old(self, tenant: str) -> int:
        """Delete records past their retention; returns the number deleted."""
        now = await self._store.now()
        deleted = 0
        for kind in (RECEIPT, EXPIRED):
            query = RecordQuery(tenant=tenant, kind=kind, due_before=now, limit=PAGE)
            for row in await self._store.list_records(query):
                deleted += await self._store.delete_record(tenant, kind, row.id)
        return deleted


def _expired(row: RecordRow) -> ExpiredStimulus:
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
