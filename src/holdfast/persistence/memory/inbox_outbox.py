"""Inbox and outbox, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from holdfast.model.changes import of_rows
from holdfast.model.stored import BookmarkRow, InstanceKey
from holdfast.model.work import InboxRow, OutboxRow, WorkRow
from holdfast.persistence.memory.tables import MemoryStoreBase, added, is_visible
from holdfast.ports import Mail


class MemoryInboxOutbox(MemoryStoreBase):
    """The position of an inbox row is its place in the dict."""

    async def put_inbox(self, rows: Sequence[InboxRow], work: Sequence[WorkRow] = ()) -> Sequence[bool]:
        answers = added(self._tables.inbox, (((row.tenant, row.id), row) for row in rows))
        added(self._tables.work, (((row.tenant, row.id), row) for row in work))
        self._changed(of_rows(work))
        return answers

    async def has_mail(self, addresses: Sequence[tuple[str, int]]) -> Sequence[bool]:
        return self._mail_at(addresses)

    async def find_mail(self, keys: Sequence[InstanceKey], limit: int) -> Sequence[Mail]:
        now, found = self._now(), []
        visible = [row for row in self._tables.inbox.values() if is_visible(row, now)]
        for key in keys:
            marks = self._tables.bookmarks.get(key, {}).values()
            rows = [row for row in visible if any(_fits(row, mark) for mark in marks)] if marks else []
            found.append(Mail(seen=max((mark.seq for mark in marks), default=0), rows=rows[:limit]))
        return found

    async def inbox_of(self, tenant: str, instance_id: str) -> Sequence[InboxRow]:
        return [row for row in self._tables.inbox.values() if row.tenant == tenant and row.instance_id == instance_id]

    async def stranded_inbox(self, limit: int) -> Sequence[tuple[InboxRow, BookmarkRow]]:
        now = self._now()
        found = []
        for row in self._tables.inbox.values():
            marks = self._tables.sleepers.get((row.tenant, row.key), {}).values() if is_visible(row, now) else ()
            fitting = sorted((mark for mark in marks if _fits(row, mark)), key=_by_age)
            found += [(row, mark) for mark in fitting]
        return found[:limit]

    async def expire_inbox(self, limit: int) -> Sequence[InboxRow]:
        now = self._now()
        expired = [row for row in self._tables.inbox.values() if row.expires is not None and row.expires <= now]
        for row in expired[:limit]:
            del self._tables.inbox[row.tenant, row.id]
        return expired[:limit]

    async def take_outbox(self, limit: int, hold: timedelta) -> Sequence[OutboxRow]:
        now = self._now()
        free = [
            row
            for key, row in self._tables.outbox.items()
            if key not in self._tables.outbox_held or self._tables.outbox_held[key] <= now
        ]
        free.sort(key=lambda row: (row.created, row.tenant, row.id))
        taken = [replace(row, attempts=row.attempts + 1) for row in free[:limit]]
        for row in taken:
            self._tables.outbox[row.tenant, row.id] = row
            self._tables.outbox_held[row.tenant, row.id] = now + hold
        return taken

    async def delete_outbox(self, rows: Sequence[OutboxRow]) -> None:
        for row in rows:
            self._tables.outbox.pop((row.tenant, row.id), None)
            self._tables.outbox_held.pop((row.tenant, row.id), None)

    async def return_outbox(self, rows: Sequence[OutboxRow], after: timedelta) -> None:
        for row in rows:
            if (row.tenant, row.id) in self._tables.outbox:
                self._tables.outbox_held[row.tenant, row.id] = self._now() + after


def _fits(row: InboxRow, bookmark: BookmarkRow) -> bool:
    return (
        (row.tenant, row.key) == (bookmark.tenant, bookmark.key)
        and row.instance_id in {None, bookmark.instance_id}
        and row.correlation in {0, bookmark.correlation}
    )


def _by_age(mark: BookmarkRow) -> tuple[datetime, str, int]:
    return mark.created, mark.instance_id, mark.seq
