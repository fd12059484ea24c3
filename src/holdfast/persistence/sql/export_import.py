"""Export and import of one instance with all rows that belong to it."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from holdfast.errors import AlreadyStored
from holdfast.model.changes import of_rows
from holdfast.model.upkeep import InstanceExport
from holdfast.model.work import NO_OWNER
from holdfast.persistence.sql.first_segment import FIRST_SEGMENT, read_first
from holdfast.persistence.sql.instance_tables import (
    BOOKMARK,
    EFFECT,
    GUARD,
    INCIDENT,
    INSTANCE,
    JOURNAL,
    VALUE,
    StoredSegment,
)
from holdfast.persistence.sql.records import RECORD
from holdfast.persistence.sql.script import Script, Statement, execute, execute_many
from holdfast.persistence.sql.store_base import SqlStoreBase
from holdfast.persistence.sql.tables import Table
from holdfast.persistence.sql.work_tables import INBOX, OUTBOX, WORK

R = TypeVar("R")


class SqlExportImport(SqlStoreBase):
    async def export_instance(self, tenant: str, instance_id: str) -> InstanceExport | None:
        return await self._read(self._export(tenant, instance_id))

    async def import_instance(self, export: InstanceExport) -> None:
        await self._write(lambda: self._import(export), of_rows(export.work))

    def _export(self, tenant: str, instance_id: str) -> Script[InstanceExport | None]:
        found = yield execute(INSTANCE.select + " where tenant = ? and id = ?", tenant, instance_id)
        if not found:
            return None

        def rows(table: Table[R], order: str) -> Script[tuple[R, ...]]:
            sql = f"{table.select} where tenant = ? and instance_id = ? order by {order}"
            return tuple(table.rows((yield execute(sql, tenant, instance_id)), self._codec))

        first = read_first(tenant, (yield execute(FIRST_SEGMENT, tenant, instance_id)), self._codec)
        segments = yield from rows(JOURNAL, "version")
        return InstanceExport(
            instance=INSTANCE.decode(found[0], self._codec),
            bookmarks=(yield from rows(BOOKMARK, "seq, wake_key, correlation")),
            journal=(*first, *(row.segment for row in segments)),
            values=(yield from rows(VALUE, "ref")),
            incidents=(yield from rows(INCIDENT, "id")),
            effects=(yield from rows(EFFECT, "execution")),
            work=(yield from rows(WORK, "id")),
            inbox=(yield from rows(INBOX, "position")),
            outbox=(yield from rows(OUTBOX, "id")),
            guards=(yield from rows(GUARD, "kind, name")),
            records=(yield from rows(RECORD, "kind, id")),
        )

    def _import(self, export: InstanceExport) -> Script[None]:
        yield from self._refuse_existing(export)
        tenant, instance_id = export.instance.key
        yield execute("delete from hf_guard where tenant = ? and instance_id = ?", tenant, instance_id)
        segments = [StoredSegment(tenant, instance_id, segment) for segment in export.journal]
        effects = [replace(row, owner=NO_OWNER) for row in export.effects]
        inserts: tuple[Statement, ...] = (
            execute_many(INSTANCE.insert, [INSTANCE.encode(export.instance, self._codec)]),
            execute_many(JOURNAL.insert, [JOURNAL.encode(row, self._codec) for row in segments]),
            execute_many(BOOKMARK.insert, [BOOKMARK.encode(row, self._codec) for row in export.bookmarks]),
            execute_many(VALUE.insert, [VALUE.encode(row, self._codec) for row in export.values]),
            execute_many(INCIDENT.insert, [INCIDENT.encode(row, self._codec) for row in export.incidents]),
            execute_many(EFFECT.insert, [EFFECT.encode(row, self._codec) for row in effects]),
            execute_many(WORK.insert, [WORK.encode(row, self._codec) for row in export.work]),
            execute_many(INBOX.insert, [INBOX.encode(row, self._codec) for row in export.inbox]),
            execute_many(OUTBOX.insert, [OUTBOX.encode(row, self._codec) for row in export.outbox]),
            execute_many(GUARD.insert, [GUARD.encode(row, self._codec) for row in export.guards]),
            execute_many(RECORD.insert, [RECORD.encode(row, self._codec) for row in export.records]),
        )
        for statement in inserts:
            if statement.values:
                yield statement

    def _refuse_existing(self, export: InstanceExport) -> Script[None]:
        tenant, instance_id = export.instance.key
        taken: list[str] = []
        found = yield execute(
            f"select id from hf_instance where tenant = ? and id = ?{self._dialect.lock}", tenant, instance_id
        )
        for row in export.guards:
            held = yield execute(
                f"select instance_id from hf_guard where tenant = ? and kind = ? and name = ?{self._dialect.lock}",
                tenant,
                row.kind.value,
                row.name,
            )
            taken += [row.name for holder in held if holder[0] != instance_id]
        if found or taken:
            raise AlreadyStored(
                f"Instance {instance_id} or a key of it ({', '.join(taken) or 'none'}) is stored already. "
                "Delete it first."
            )
