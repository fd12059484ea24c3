"""Inbox and outbox."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from msgspec.structs import replace

from holdfast.model.changes import of_rows
from holdfast.model.stored import BookmarkRow, InstanceKey
from holdfast.model.work import InboxRow, OutboxRow, WorkRow
from holdfast.persistence.sql.instance_tables import BOOKMARK
from holdfast.persistence.sql.script import Script, all_of, execute, execute_many, grouped
from holdfast.persistence.sql.store_base import VISIBLE, SqlStoreBase
from holdfast.persistence.sql.work_tables import INBOX, OUTBOX, WORK
from holdfast.ports import Mail

_MICRO = timedelta(microseconds=1)
_BY_POSITION = " order by position"
_FITS = """b.tenant = i.tenant and b.wake_key = i.wake_key
    and (i.correlation = 0 or i.correlation = b.correlation) and (i.instance_id is null or i.instance_id = b.instance_id)"""
_COLUMNS = ", ".join("i." + name for name in INBOX.names)
_SEEN = "select max(seq) from hf_bookmark where tenant = ? and instance_id = ?"
_MAIL = f"""select {_COLUMNS} from hf_inbox i
where i.tenant = ? and i.wake_key in (select wake_key from hf_bookmark where tenant = ? and instance_id = ?)
    and exists (select 1 from hf_bookmark b where b.instance_id = ? and {_FITS}) and {VISIBLE}
order by i.position limit ?"""
_STRANDED = f"""select {_COLUMNS}, {", ".join("b." + name for name in BOOKMARK.names)}
from hf_inbox i join hf_bookmark b on {_FITS}
where {VISIBLE}
order by i.position, b.created, b.instance_id, b.seq limit ?"""


class SqlInboxOutbox(SqlStoreBase):
    async def put_inbox(self, rows: Sequence[InboxRow], work: Sequence[WorkRow] = ()) -> Sequence[bool]:
        return await self._write(lambda: self._put(rows, work), of_rows(work))

    async def has_mail(self, addresses: Sequence[tuple[str, int]]) -> Sequence[bool]:
        return await self._read(self._has_mail(addresses))

    async def find_mail(self, keys: Sequence[InstanceKey], limit: int) -> Sequence[Mail]:
        return await self._read(self._find_mail(keys, limit))

    async def inbox_of(self, tenant: str, instance_id: str) -> Sequence[InboxRow]:
        return await self._read(self._inbox_of(tenant, instance_id))

    async def stranded_inbox(self, limit: int) -> Sequence[tuple[InboxRow, BookmarkRow]]:
        return await self._read(self._stranded(limit))

    async def expire_inbox(self, limit: int) -> Sequence[InboxRow]:
        return await self._write(lambda: self._expire(limit))

    async def take_outbox(self, limit: int, hold: timedelta) -> Sequence[OutboxRow]:
        return await self._write(lambda: self._take(limit, hold))

    async def delete_outbox(self, rows: Sequence[OutboxRow]) -> None:
        await self._write(lambda: self._delete(rows))

    async def return_outbox(self, rows: Sequence[OutboxRow], after: timedelta) -> None:
        await self._write(lambda: self._return(rows, after))

    def _put(self, rows: Sequence[InboxRow], work: Sequence[WorkRow] = ()) -> Script[list[bool]]:
        if work:
            known = yield from self._known_work(work)
            added = {(row.tenant, row.id): row for row in work if (row.tenant, row.id) not in known}
            if added:
                rung = [WORK.encode(row, self._codec) for row in added.values()]
                yield execute_many(f"{WORK.insert} {self._dialect.skip_existing}", rung)
        there: set[tuple[str, str]] = set()
        sql = "select id from hf_inbox where tenant = ? and id in ({marks})"
        for tenant, group in grouped(rows, lambda row: row.tenant).items():
            found = yield from all_of(sql, (tenant,), [row.id for row in group])
            there |= {(tenant, row[0]) for row in found}
        fresh = []
        for row in rows:
            fresh.append((row.tenant, row.id) not in there)
            there.add((row.tenant, row.id))
        new = [INBOX.encode(row, self._codec) for row, is_new in zip(rows, fresh, strict=True) if is_new]
        if new:
            yield execute_many(f"{INBOX.insert} {self._dialect.skip_existing}", new)
        return fresh

    def _known_work(self, work: Sequence[WorkRow]) -> Script[set[tuple[str, str]]]:
        known: set[tuple[str, str]] = set()
        for tenant, group in grouped(work, lambda row: row.tenant).items():
            sql = "select id from hf_work where tenant = ? and id in ({marks})"
            known |= {(tenant, row[0]) for row in (yield from all_of(sql, (tenant,), [row.id for row in group]))}
        return known

    def _find_mail(self, keys: Sequence[InstanceKey], limit: int) -> Script[list[Mail]]:
        # This runs after every burst that waits, and the inbox is usually empty: one query instead of two per instance.
        if not (yield execute("select 1 from hf_inbox limit 1")):
            return [Mail(seen=0, rows=())] * len(keys)
        now = yield from self._micros_now()
        found = []
        for tenant, name in keys:
            ((seen,),) = yield execute(_SEEN, tenant, name)
            rows = yield execute(_MAIL, tenant, tenant, name, name, now, now, limit)
            found.append(Mail(seen=seen or 0, rows=INBOX.rows(rows, self._codec)))
        return found

    def _inbox_of(self, tenant: str, instance_id: str) -> Script[list[InboxRow]]:
        rows = yield execute(INBOX.select + " where tenant = ? and instance_id = ?" + _BY_POSITION, tenant, instance_id)
        return INBOX.rows(rows, self._codec)

    def _stranded(self, limit: int) -> Script[list[tuple[InboxRow, BookmarkRow]]]:
        now = yield from self._micros_now()
        rows = yield execute(_STRANDED, now, now, limit)
        width = len(INBOX.names)
        return [(INBOX.decode(row[:width], self._codec), BOOKMARK.decode(row[width:], self._codec)) for row in rows]

    def _expire(self, limit: int) -> Script[list[InboxRow]]:
        now = yield from self._micros_now()
        rows = yield execute(
            f"{INBOX.select} where expires is not null and expires <= ?{_BY_POSITION} limit ?{self._dialect.lock}",
            now,
            limit,
        )
        expired = INBOX.rows(rows, self._codec)
        if expired:
            yield execute_many(
                "delete from hf_inbox where tenant = ? and id = ?", [(row.tenant, row.id) for row in expired]
            )
        return expired

    def _take(self, limit: int, hold: timedelta) -> Script[list[OutboxRow]]:
        now = yield from self._micros_now()
        found = yield execute(
            f"{OUTBOX.select} where held_until <= ? order by created, tenant, id limit ?{self._dialect.lock_free}",
            now,
            limit,
        )
        rows = OUTBOX.rows(found, self._codec)
        if rows:
            yield execute_many(
                "update hf_outbox set attempts = attempts + 1, held_until = ? where tenant = ? and id = ?",
                [(now + hold // _MICRO, row.tenant, row.id) for row in rows],
            )
        return [replace(row, attempts=row.attempts + 1) for row in rows]

    def _delete(self, rows: Sequence[OutboxRow]) -> Script[None]:
        if rows:
            yield execute_many(
                "delete from hf_outbox where tenant = ? and id = ?", [(row.tenant, row.id) for row in rows]
            )

    def _return(self, rows: Sequence[OutboxRow], after: timedelta) -> Script[None]:
        now = yield from self._micros_now()
        if rows:
            yield execute_many(
                "update hf_outbox set held_until = ? where tenant = ? and id = ?",
                [(now + after // _MICRO, row.tenant, row.id) for row in rows],
            )
