"""Inbox lookup after every commit that waits for an event: one round trip if the inbox is empty, else two."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from holdfast.model.stored import BookmarkRow
from holdfast.model.work import InboxRow
from holdfast.persistence.sql.inbox_outbox import SqlInboxOutbox
from holdfast.persistence.sql.script import Rows
from holdfast.persistence.sql.work_tables import INBOX

_ANY = "select 1 from hf_inbox limit 1"
_MATCHING = f"""select m.number, i.*
from unnest($1::int4[], $2::text[], $3::int8[], $4::int8[], $5::text[]) m(number, tenant, wake_key, correlation, instance_id)
cross join lateral (select {INBOX.columns} from hf_inbox
    where tenant = m.tenant and wake_key = m.wake_key and correlation in (0, m.correlation)
        and (instance_id is null or instance_id = m.instance_id)
        and (expires is null or expires > (extract(epoch from statement_timestamp()) * 1000000)::bigint)) i
order by m.number, i.arrived, i.tenant, i.id"""


class PostgresInbox(SqlInboxOutbox):
    @abstractmethod
    async def _fetch(self, sql: str, *values: Any) -> Rows: ...

    async def find_inbox(self, bookmarks: Sequence[BookmarkRow]) -> Sequence[Sequence[InboxRow]]:
        found: list[list[InboxRow]] = [[] for _ in bookmarks]
        # Each query is its own snapshot, after the commit. "Write, commit, then read" needs no more.
        if bookmarks and await self._fetch(_ANY):
            rows = await self._fetch(
                _MATCHING,
                list(range(len(bookmarks))),
                [mark.tenant for mark in bookmarks],
                [mark.key for mark in bookmarks],
                [mark.correlation for mark in bookmarks],
                [mark.instance_id for mark in bookmarks],
            )
            for row in rows:
                found[row[0]].append(INBOX.decode(row[1:], self._codec))
        return found
