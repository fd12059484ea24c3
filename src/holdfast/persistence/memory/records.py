"""Records in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from holdfast.model.changes import of_rows
from holdfast.model.record_rows import RecordQuery, RecordRow, read_cursor
from holdfast.model.work import InboxRow, WorkRow
from holdfast.persistence.memory.tables import MemoryStoreBase, Tables, added


def write_record(tables: Tables, row: RecordRow) -> None:
    """Insert a record, or overwrite the stored one with the next version."""
    place = (row.tenant, row.kind, row.id)
    stored = tables.records.get(place)
    tables.records[place] = (
        replace(row, version=1) if stored is None else replace(row, version=stored.version + 1, created=stored.created)
    )


class MemoryRecords(MemoryStoreBase):
    async def put_record(self, row: RecordRow, work: Sequence[WorkRow] = (), inbox: Sequence[InboxRow] = ()) -> bool:
        stored = self._tables.records.get((row.tenant, row.kind, row.id))
        if row.version - 1 != (0 if stored is None else stored.version):
            return False
        write_record(self._tables, row)
        added(self._tables.work, (((each.tenant, each.id), each) for each in work))
        added(self._tables.inbox, (((each.tenant, each.id), each) for each in inbox))
        self._changed(of_rows(work))
        return True

    async def get_record(self, tenant: str, kind: str, record_id: str) -> RecordRow | None:
        return self._tables.records.get((tenant, kind, record_id))

    async def list_records(self, query: RecordQuery) -> Sequence[RecordRow]:
        found = sorted(self._matching_records(query), key=lambda row: row.id)
        found.sort(key=lambda row: row.created, reverse=True)
        if query.after:
            created, name = read_cursor(query.after)
            found = [row for row in found if row.created < created or (row.created == created and row.id > name)]
        return found[: query.limit]

    async def count_records(self, query: RecordQuery) -> int:
        return sum(1 for _ in self._matching_records(query))

    async def delete_record(self, tenant: str, kind: str, record_id: str) -> bool:
        return self._tables.records.pop((tenant, kind, record_id), None) is not None

    def _matching_records(self, query: RecordQuery) -> Iterator[RecordRow]:
        for row in self._tables.records.values():
            if (
                (row.tenant, row.kind) == (query.tenant, query.kind)
                and (not query.owners or row.owner in query.owners)
                and (not query.states or row.state in query.states)
                and query.instance_id in {None, row.instance_id}
                and (query.due_before is None or (row.due is not None and row.due < query.due_before))
            ):
                yield row
