"""Inbox and outbox, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from holdfast.model.stored import BookmarkRow, InstanceKey
from holdfast.model.work import InboxRow, OutboxRow
from holdfast.persistence.memory.tables import MemoryStoreBase, added


class MemoryInboxOutbox(MemoryStoreBase):
    async def put_inbox(self, rows: Sequence[InboxRow]) -> Sequence[bool]:
        answers = added(self._tables.inbox, (((row.tenant, row.id), row) for row in rows))
        self._changed()
        return answers

    async def find_inbox(self, bookmarks: Sequence[BookmarkRow]) -> Sequence[Sequence[InboxRow]]:
        now = self._now()
        return [
            sorted((row for row in self._tables.inbox.values() if _matches(row, bookmark, now)), key=_by_arrival)
            for bookmark in bookmarks
        ]

    async def inbox_of(self, tenant: str, instance_id: str) -> Sequence[InboxRow]:
        found = [row for row in self._tables.inbox.values() if row.tenant == tenant and row.instance_id == instance_id]
        return sorted(found, key=_by_arrival)

    async def stranded_inbox(self, limit: int) -> Sequence[tuple[InboxRow, BookmarkRow]]:
        now = self._now()
        found = [
            (row, bookmark)
            for row in self._tables.inbox.values()
            for bookmark in self._tables.sleepers.get((row.tenant, row.key), {}).values()
            if _matches(row, bookmark, now)
        ]
        found.sort(key=lambda pair: (_by_arrival(pair[0]), pair[1].created, pair[1].instance_id, pair[1].seq))
        return found[:limit]

    async def expire_inbox(self, limit: int) -> Sequence[InboxRow]:
        now = self._now()
        expired = [row for row in self._tables.inbox.values() if row.expires is not None and row.expires <= now]
        expired.sort(key=_by_arrival)
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


def _matches(row: InboxRow, bookmark: BookmarkRow, now: datetime) -> bool:
    return (
        (row.tenant, row.key) == (bookmark.tenant, bookmark.key)
        and row.instance_id in {None, bookmark.instance_id}
        and row.correlation in {0, bookmark.correlation}
        and (row.expires is None or row.expires > now)
    )


def _by_arrival(row: InboxRow) -> tuple[datetime, InstanceKey]:
    return row.arrived, InstanceKey(row.tenant, row.id)
