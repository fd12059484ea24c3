"""One transaction of the projection of the list of instances.

Each commit statement adds the keys of its instances to hf_unlisted, one row per batch and shard. The shard is a hash of the
instance id. The transaction that lists these instances deletes the row, so another process continues after a crash.

A projector holds an advisory lock for each shard that it works on. So it never reads older rows of an instance than its
predecessor wrote, and a deleted instance cannot reappear. Counters have one row per shard: projectors of different shards
write different rows. They share only new rows of hf_group, which are inserted in one order. A projector waits for the lock of
a shard only while it holds no other, so projectors cannot deadlock.

Values that many instances share (definition, content, status) are a row of hf_group with a hash as its key; the view
hf_listed joins them. A new instance is not in the list yet, so it is inserted without a check. If it is in the list after all
(it was deleted and imported in the meantime), the transaction is repeated with a check.
"""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from random import sample
from typing import NamedTuple

from holdfast.persistence.sql.postgresql.connection import Connection, is_there_already
from holdfast.persistence.sql.postgresql.pool import roll_back

SHARDS = 8
"""Number of results of the function hf_shard of the database."""
LOCK = 2014_0816
"""First key of the advisory locks. The second is the shard."""
_OWN = "tenant, id, version, correlation_id, name, parent_id, incidents, created, updated, finished"
"""Listed columns of an instance, besides its group."""
_CHANGES = ", ".join(
    f"{column} = excluded.{column}"
    for column in (*_OWN.split(", "), "group_number")
    if column not in {"tenant", "created", "id"}
)
_OF_GROUP = "tenant, definition_id, definition_version, content, status, is_system"
_GROUP = """hashtextextended(i.tenant, hashtextextended(i.definition_id, hashtextextended(i.content,
    hashtextextended(i.status, i.definition_version::bigint * 2 + i.is_system))))"""
_SAME = "i.tenant = k.tenant and i.id = k.id and i.created = k.created"
_LOCK_PENDING = f"""with pending as materialized (
    select s from generate_series(0, {SHARDS - 1}) s where exists (select 1 from hf_unlisted u where u.shard = s)
), free as materialized (select s from pending where pg_try_advisory_xact_lock({LOCK}, s))
select array(select s from pending), array(select s from free)"""
"""Materialized, so that no lock is tried for a shard without rows."""
_LOCK_FIRST = f"select array(select s from unnest($1::int[]) s where pg_try_advisory_xact_lock({LOCK}, s) limit 1)"
_LOCK_WAITING = f"select pg_advisory_xact_lock({LOCK}, $1)"
_SWEPT_ROWS = 64
"""Rows of each shard in a sweep. One statement for all shards writes the indexes in their order: statements for one shard each
cost twice as much."""
_BACKLOG_ROWS = 64
_BEGIN = "begin; set local synchronous_commit = off"


def _list(rows: int, *, looking: bool) -> str:
    own = ", ".join("i." + column for column in _OWN.split(", "))
    keys = "from taken cross join lateral unnest(tenants, ids, createds) k(tenant, id, created)"
    insert = f"insert into hf_listing ({_OWN}, group_number)"
    return f"""with taken as (
    delete from hf_unlisted where (shard, number) in (
        select u.shard, u.number from unnest($1::smallint[]) s cross join lateral (
            select shard, number from hf_unlisted where shard = s order by number limit {rows}) u)
    returning shard, is_new, tenants, ids, createds
), new as not materialized (
    select k.* {keys} where {"false" if looking else "is_new"}
), again as materialized (
    select distinct k.* {keys} where {"true" if looking else "not is_new"}
    and not exists (select 1 from new i where {_SAME})
), found as materialized (
    select k.tenant as whose, k.id as which, k.created as since, {own}, {_GROUP} as group_number
    from again k left join hf_instance i on {_SAME}
), listed as (
    {insert} select {own}, {_GROUP} from new k join hf_instance i on {_SAME} order by k.created
    returning group_number, tenant, id
), listed_again as (
    {insert} select {_OWN}, group_number from found where id is not null order by tenant, id
    on conflict (tenant, created, id) do update set {_CHANGES} returning group_number, tenant, id
), forgotten as (
    delete from hf_listing l using found f
    where f.id is null and l.tenant = f.whose and l.created = f.since and l.id = f.which
), grouped as (
    insert into hf_group (number, {_OF_GROUP})
    select m.group_number, {", ".join("i." + column for column in _OF_GROUP.split(", "))} from (
        select group_number, min(tenant) as tenant, min(id) as id
        from (table listed union all table listed_again) a group by group_number
    ) m join hf_instance i on i.tenant = m.tenant and i.id = m.id
    where not exists (select 1 from hf_group g where g.tenant = m.tenant and g.number = m.group_number)
    order by m.tenant, m.group_number on conflict do nothing
) select array(select shard from taken group by shard having count(*) = {rows})"""


_SWEEP = (_list(_SWEPT_ROWS, looking=False), _list(_SWEPT_ROWS, looking=True))
_BACKLOG = (_list(_BACKLOG_ROWS, looking=False), _list(_BACKLOG_ROWS, looking=True))


class Locked(NamedTuple):
    shards: list[int]
    """Shards that the transaction holds."""
    others: set[int]
    """Shards that may have more rows."""


Lock = Callable[[], Awaitable[Locked]]


async def project(connection: Connection, *, wait: bool = False) -> bool:
    """Project what is pending, in several transactions. Shards that other projectors hold are awaited, or left: then False."""
    pending = await sweep(connection)
    while pending:
        left = await work_off(connection, pending, wait=wait)
        if left is None:
            return False
        pending = left
    return True


async def sweep(connection: Connection) -> set[int]:
    """Project a few rows of every free shard. Returns the shards that may have more rows."""

    async def lock() -> Locked:
        ((pending, free),) = await connection.fetch(_LOCK_PENDING)
        return Locked(free, set(pending) - set(free))

    return (await _project(connection, lock, *_SWEEP)).others


async def work_off(connection: Connection, shards: Collection[int], *, wait: bool = False) -> set[int] | None:
    """Project many rows of one of these shards, so that several projectors share a backlog. Returns the shards that may have
    more rows. If other projectors hold all of them, wait for one, or return None."""
    candidates = sample(sorted(shards), len(shards))

    async def lock() -> Locked:
        ((locked,),) = await connection.fetch(_LOCK_FIRST, candidates)
        if not locked and wait:
            await connection.fetch(_LOCK_WAITING, candidates[0])
            locked = candidates[:1]
        return Locked(locked, set(shards) - set(locked))

    done = await _project(connection, lock, *_BACKLOG)
    return done.others if done.shards else None


@asynccontextmanager
async def transaction(connection: Connection) -> AsyncIterator[None]:
    """A transaction that does not wait for the disk: what a crash undoes is projected again."""
    await connection.execute(_BEGIN)
    try:
        yield
        await connection.execute("commit")
    except BaseException as error:
        if is_there_already(error):
            await roll_back(connection)
        else:
            connection.terminate()
        raise


async def _project(connection: Connection, lock: Lock, certain: str, looking: str) -> Locked:
    try:
        return await _list_locked(connection, lock, certain)
    except Exception as error:
        if not is_there_already(error):
            raise
    return await _list_locked(connection, lock, looking)


async def _list_locked(connection: Connection, lock: Lock, text: str) -> Locked:
    async with transaction(connection):
        shards, others = await lock()
        # A separate statement: its snapshot is taken under the locks.
        more = (await connection.fetch(text, shards))[0][0] if shards else ()
    return Locked(shards, others.union(more))
