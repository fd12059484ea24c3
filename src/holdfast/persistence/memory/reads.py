"""Reads by key, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.model.guard import GuardRef, GuardRow
from holdfast.model.stored import BookmarkQuery, BookmarkRow, IncidentRow, InstanceKey, InstanceRow, JournalSegment
from holdfast.persistence.memory.tables import MemoryStoreBase
from holdfast.ports import Loaded, Matches


class MemoryReads(MemoryStoreBase):
    async def load(self, keys: Sequence[InstanceKey], addresses: Sequence[int] = ()) -> Loaded:
        mail = self._mail_at([(key.tenant, address) for key, address in zip(keys, addresses, strict=False)])
        return Loaded(epoch=self._tables.epoch, instances=self._rows(keys), mail=mail)

    async def find_bookmarks(self, queries: Sequence[BookmarkQuery]) -> Matches:
        mail = self._mail_at([(query.tenant, query.address) for query in queries])
        return Matches(epoch=self._tables.epoch, bookmarks=[self._sleepers(query) for query in queries], mail=mail)

    async def bookmarks_of(self, tenant: str, instance_id: str) -> Sequence[BookmarkRow]:
        rows = self._tables.bookmarks.get(InstanceKey(tenant, instance_id), {}).values()
        return sorted(rows, key=lambda row: (row.seq, row.key, row.correlation))

    async def read_journal(
        self, tenant: str, instance_id: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[JournalSegment]:
        segments = self._tables.journal.get(InstanceKey(tenant, instance_id), {}).values()
        found = [segment for segment in segments if segment.version > after and segment.count]
        return sorted(found, key=lambda segment: segment.version)[:limit]

    async def load_values(self, tenant: str, instance_id: str, refs: Sequence[str]) -> Mapping[str, bytes]:
        values = self._tables.values.get(InstanceKey(tenant, instance_id), {})
        return {ref: values[ref].data for ref in refs if ref in values}

    async def versions_of(self, keys: Sequence[InstanceKey]) -> Mapping[InstanceKey, int]:
        return {key: row.version for key, row in self._rows(keys).items()}

    async def find_guard(self, tenant: str, ref: GuardRef) -> GuardRow | None:
        return self._tables.guards.get((tenant, ref.kind, ref.name))

    async def list_incidents(
        self, tenant: str, *, instance_id: str | None = None, only_open: bool = True, limit: int = 100
    ) -> Sequence[IncidentRow]:
        found = [
            row
            for row in self._tables.incidents.values()
            if row.tenant == tenant and instance_id in {None, row.instance_id} and (row.open or not only_open)
        ]
        return sorted(found, key=lambda row: (row.occurred, row.instance_id, row.id), reverse=True)[:limit]

    def _rows(self, keys: Sequence[InstanceKey]) -> dict[InstanceKey, InstanceRow]:
        instances = self._tables.instances
        return {key: instances[key] for key in keys if key in instances}

    def _sleepers(self, query: BookmarkQuery) -> list[BookmarkRow]:
        rows = [
            row
            for row in self._tables.sleepers.get((query.tenant, query.key), {}).values()
            if query.correlation in {0, row.correlation}
        ]
        if query.oldest:
            rows.sort(key=lambda row: (row.created, row.instance_id, row.seq))
        else:
            rows = [row for row in rows if (row.instance_id, row.seq) > query.after]
            rows.sort(key=lambda row: (row.instance_id, row.seq))
        return rows[: query.limit]
