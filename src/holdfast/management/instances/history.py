"""Earlier versions of an instance, where their snapshots are stored (`history = snapshots`, rule M19)."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import StateNotKept
from holdfast.model.record_rows import RecordQuery
from holdfast.model.upkeep import SNAPSHOT
from holdfast.ports import Store
from holdfast.runtime.commits.snapshots import Snapshot, decode_snapshot, snapshot_id

PAGE = 500


class Moment(Struct, frozen=True, kw_only=True):
    """A version of an instance whose state is stored."""

    version: int
    at: datetime
    status: str


class InstanceHistory:
    def __init__(self, store: Store, tenant: str) -> None:
        self._store = store
        self._tenant = tenant

    async def moments(self, instance_id: str) -> list[Moment]:
        """Versions whose state is stored, oldest first."""
        found: list[Moment] = []
        query = RecordQuery(tenant=self._tenant, kind=SNAPSHOT, instance_id=instance_id, limit=PAGE)
        while page := await self._store.list_records(query):
            found += [Moment(version=int(row.id.rpartition("@")[2]), at=row.created, status=row.state) for row in page]
            query = replace(query, after=page[-1].cursor)
        return sorted(found, key=lambda moment: moment.version)

    async def snapshot(self, instance_id: str, version: int) -> Snapshot:
        row = await self._store.get_record(self._tenant, SNAPSHOT, snapshot_id(instance_id, version))
        if row is None:
            raise StateNotKept(instance_id, version)
        return decode_snapshot(row.payload)
