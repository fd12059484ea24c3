"""Records: their table and its queries."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.model.changes import of_rows
from holdfast.model.record_rows import RecordQuery, RecordRow, read_cursor
from holdfast.model.work import InboxRow, WorkRow
from holdfast.persistence.sql.dialect import Dialect
from holdfast.persistence.sql.script import Script, Value, execute, execute_many, marks
from holdfast.persistence.sql.store_base import SqlStoreBase
from holdfast.persistence.sql.tables import Table, micros, micros_or_none, moment, moment_or_none
from holdfast.persistence.sql.work_tables import INBOX, WORK
from holdfast.ports import Codec


def _record(row: RecordRow, codec: Codec) -> tuple[Any, ...]:
    return (
        row.tenant, row.kind, row.id, row.version, row.instance_id, row.owner, row.state, micros_or_none(row.due),
        micros(row.created), micros(row.updated), codec.encode(row.payload, "record.payload|" + row.tenant),
    )  # fmt: skip


def _read_record(row: Sequence[Any], codec: Codec) -> RecordRow:
    return RecordRow(
        tenant=row[0], kind=row[1], id=row[2], version=row[3], instance_id=row[4], owner=row[5], state=row[6],
        due=moment_or_none(row[7]), created=moment(row[8]), updated=moment(row[9]),
        payload=codec.decode(row[10], "record.payload|" + row[0]),
    )  # fmt: skip


RECORD = Table(
    "hf_record",
    "tenant, kind, id, version, instance_id, owner, status, due, created, updated, payload",
    _record,
    _read_record,
)
_CHANGES = ("instance_id", "owner", "status", "due", "updated", "payload")
"""Columns that a later version changes, besides the version."""
_KEY = " where tenant = ? and kind = ? and id = ?"


def written_over(dialect: Dialect) -> str:
    """Upsert clause of an INSERT: an existing record gets the next version."""
    changes = [f"{column} = {dialect.new_value.format(column=column)}" for column in _CHANGES]
    return f"{dialect.over_existing} version = hf_record.version + 1, {', '.join(changes)}"


def first_version(row: RecordRow, codec: Codec) -> tuple[Value, ...]:
    """The row that a commit inserts. The store assigns the version and ignores the version of the row."""
    encoded = _record(row, codec)
    return *encoded[:3], 1, *encoded[4:]


class SqlRecords(SqlStoreBase):
    async def put_record(self, row: RecordRow, work: Sequence[WorkRow] = (), inbox: Sequence[InboxRow] = ()) -> bool:
        return await self._write(lambda: self._put_record_and(row, work, inbox), of_rows(work))

    async def get_record(self, tenant: str, kind: str, record_id: str) -> RecordRow | None:
        found = await self._read(self._records(_KEY, tenant, kind, record_id))
        return found[0] if found else None

    async def list_records(self, query: RecordQuery) -> Sequence[RecordRow]:
        where, values = _where(query)
        if query.after:
            created, name = read_cursor(query.after)
            where += " and (created < ? or (created = ? and id > ?))"
            values += [micros(created), micros(created), name]
        where += " order by created desc, id limit ?"
        return await self._read(self._records(where, *values, query.limit))

    async def count_records(self, query: RecordQuery) -> int:
        return await self._read(self._count_records(query))

    async def delete_record(self, tenant: str, kind: str, record_id: str) -> bool:
        return await self._write(lambda: self._delete_record(tenant, kind, record_id))

    def _records(self, where: str, *values: Value) -> Script[list[RecordRow]]:
        return RECORD.rows((yield execute(RECORD.select + where, *values)), self._codec)

    def _count_records(self, query: RecordQuery) -> Script[int]:
        where, values = _where(query)
        rows = yield execute("select count(*) from hf_record" + where, *values)
        return int(rows[0][0])

    def _put_record_and(self, row: RecordRow, work: Sequence[WorkRow], inbox: Sequence[InboxRow]) -> Script[bool]:
        written = yield from self._put_record(row)
        skip = self._dialect.skip_existing
        if written and work:
            yield execute_many(f"{WORK.insert} {skip}", [WORK.encode(item, self._codec) for item in work])
        if written and inbox:
            yield execute_many(f"{INBOX.insert} {skip}", [INBOX.encode(item, self._codec) for item in inbox])
        return written

    def _put_record(self, row: RecordRow) -> Script[bool]:
        key = (row.tenant, row.kind, row.id)
        found = yield execute("select version from hf_record" + _KEY + self._dialect.lock, *key)
        if row.version - 1 != (found[0][0] if found else 0):
            return False
        if row.version == 1:
            once = self._dialect.insert_once
            written = yield execute(RECORD.insert + once, *RECORD.encode(row, self._codec))
            return bool(written) if once else True
        changed = dict(zip(RECORD.names, RECORD.encode(row, self._codec), strict=True))
        columns = ("version", *_CHANGES)
        changes = ", ".join(f"{column} = ?" for column in columns)
        yield execute(f"update hf_record set {changes}{_KEY}", *(changed[column] for column in columns), *key)
        return True

    def _delete_record(self, tenant: str, kind: str, record_id: str) -> Script[bool]:
        found = yield execute("select version from hf_record" + _KEY + self._dialect.lock, tenant, kind, record_id)
        if found:
            yield execute("delete from hf_record" + _KEY, tenant, kind, record_id)
        return bool(found)


def _where(query: RecordQuery) -> tuple[str, list[Value]]:
    parts, values = ["tenant = ?", "kind = ?"], list[Value]([query.tenant, query.kind])
    for column, wanted in (("owner", query.owners), ("status", query.states)):
        if wanted:
            parts.append(f"{column} in ({marks(len(wanted))})")
            values += wanted
    if query.instance_id is not None:
        parts.append("instance_id = ?")
        values.append(query.instance_id)
    if query.due_before is not None:
        parts.append("due < ?")
        values.append(micros(query.due_before))
    return " where " + " and ".join(parts), values
