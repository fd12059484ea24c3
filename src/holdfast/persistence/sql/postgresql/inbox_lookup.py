"""The inbox on PostgreSQL: each call is one round trip, and calls of many senders are sent together.

The position of a row is an identity column: a row that is inserted after another one was committed has a higher position.
"""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from typing import Any

from holdfast.model.stored import InstanceKey
from holdfast.model.work import InboxRow, WorkRow
from holdfast.persistence.sql.inbox_outbox import SqlInboxOutbox
from holdfast.persistence.sql.postgresql.connection import Connection
from holdfast.persistence.sql.postgresql.query_batch import QueryBatcher
from holdfast.persistence.sql.postgresql.statement import ROW_TYPE
from holdfast.persistence.sql.script import Rows
from holdfast.persistence.sql.work_tables import INBOX, WORK
from holdfast.ports import Mail

_NOW = "(extract(epoch from statement_timestamp()) * 1000000)::bigint"
_VISIBLE = f"(i.expires is null or i.expires > {_NOW}) and i.due <= {_NOW}"
_ANY = "select 1 from hf_inbox limit 1"


def has_mail(of: str, tenant: str | None = None) -> str:
    """Condition that mail of the address of a row `of` is stored."""
    tenant = tenant or f"{of}.tenant"
    return f"exists (select 1 from hf_inbox i where i.tenant = {tenant} and i.address = {of}.address and {_VISIBLE})"


_ADDRESSED = f"""select {has_mail("a")}
from unnest($1::text[], $2::int8[]) with ordinality a(tenant, address, number) order by a.number"""
_RING = (
    f"insert into hf_work ({WORK.columns}) select {WORK.columns} from unnest($2::{ROW_TYPE}work_added[])"
    " on conflict do nothing"
)
_KEEP = (
    f"insert into hf_inbox ({INBOX.columns}) select {INBOX.columns} from unnest($1::{ROW_TYPE}inbox_added[])"
    " on conflict do nothing returning tenant, id"
)
_KEEP_AND_RING = f"with rung as ({_RING}) {_KEEP}"

Row = tuple[Any, ...]
Kept = tuple[Row, Sequence[Row]]
"""An inbox row with the work rows that are added beside it."""


@lru_cache(maxsize=16)
def _mail(limit: int) -> str:
    """LIMIT is part of the text, because as a parameter it misleads the planner."""
    return f"""select k.number, s.seen, i.*
from unnest($1::text[], $2::text[]) with ordinality k(tenant, id, number)
cross join lateral (select max(seq) as seen from hf_bookmark where tenant = k.tenant and instance_id = k.id) s
left join lateral (select {", ".join("i." + name for name in INBOX.names)}, i.position from hf_inbox i
    where i.tenant = k.tenant and i.wake_key = any (array(
            select distinct wake_key from hf_bookmark where tenant = k.tenant and instance_id = k.id))
        and (i.instance_id is null or i.instance_id = k.id)
        and exists (select 1 from hf_bookmark b where b.tenant = k.tenant and b.instance_id = k.id
            and b.wake_key = i.wake_key and i.correlation in (0, b.correlation))
        and {_VISIBLE} order by i.position limit {limit}) i on true
order by k.number, i.position"""


class InboxWrites:
    """Puts of many senders, in one statement: those that arrive during a put form the next one, in the order of arrival."""

    def __init__(self, insert: Callable[[Callable[[Connection], Awaitable[Rows]]], Awaitable[Rows]]) -> None:
        self._insert = insert
        self.batcher: QueryBatcher[Kept, bool] = QueryBatcher(self._put, 1)

    async def _put(self, kept: Sequence[Kept]) -> list[bool]:
        inbox = [(0, *row) for row, _ in kept]
        work = sorted({row[:2]: (0, *row) for _, beside in kept for row in beside}.values())  # Sorted: no deadlock.

        async def put(connection: Connection) -> Rows:
            if work:
                return await connection.fetch(_KEEP_AND_RING, inbox, work)
            return await connection.fetch(_KEEP, inbox)

        fresh = {(row[0], row[1]) for row in await self._insert(put)}
        answers = []
        for row, _ in kept:
            answers.append((row[0], row[1]) in fresh)
            fresh.discard((row[0], row[1]))
        return answers


class PostgresInbox(SqlInboxOutbox):
    @abstractmethod
    async def _fetch(self, sql: str, *values: Any) -> Rows: ...

    @property
    @abstractmethod
    def _inbox_writes(self) -> InboxWrites: ...

    @property
    @abstractmethod
    def _mail_checks(self) -> QueryBatcher[tuple[str, int], bool]: ...

    async def put_inbox(self, rows: Sequence[InboxRow], work: Sequence[WorkRow] = ()) -> Sequence[bool]:
        if not rows:
            return []
        beside = [WORK.encode(row, self._codec) for row in work]
        kept = [(INBOX.encode(row, self._codec), beside if place == 0 else ()) for place, row in enumerate(rows)]
        return await self._inbox_writes.batcher.submit(kept)

    async def has_mail(self, addresses: Sequence[tuple[str, int]]) -> Sequence[bool]:
        return await self._mail_checks.submit(addresses) if addresses else []

    async def find_mail(self, keys: Sequence[InstanceKey], limit: int) -> Sequence[Mail]:
        # Each query is its own snapshot, after the commit. "Write, commit, then read" needs no more.
        if not keys or not await self._fetch(_ANY):
            return [Mail(seen=0, rows=())] * len(keys)
        rows = await self._fetch(_mail(limit), [tenant for tenant, _ in keys], [name for _, name in keys])
        seen, found = [0] * len(keys), [list[InboxRow]() for _ in keys]
        for number, last, *row in rows:
            seen[number - 1] = last or 0
            if row[0] is not None:
                found[number - 1].append(INBOX.decode(row, self._codec))
        return [Mail(seen=last, rows=each) for last, each in zip(seen, found, strict=True)]


async def addressed(fetch: Callable[..., Awaitable[Rows]], addresses: Sequence[tuple[str, int]]) -> list[bool]:
    """Whether mail of each address is stored, in one statement."""
    rows = await fetch(_ADDRESSED, [tenant for tenant, _ in addresses], [address for _, address in addresses])
    return [row[0] for row in rows]
