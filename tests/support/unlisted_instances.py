"""Writes instances as the commit statement of PostgreSQL does, without a store whose own projector would list them."""

from __future__ import annotations

from typing import Any

_WRITE = """insert into hf_instance (tenant, id, version, burst_id, status, content, definition_id, definition_version, is_system,
        incidents, created, updated, finished, state)
    select '', id, $2::int, 'b', $3::text, 'c', 'd', 1, 0, 0, 0, $2::int, case when $3 = 'finished' then 1 end, ''
    from unnest($1::text[]) id
    on conflict (tenant, id) do update set
        version = excluded.version, status = excluded.status, updated = excluded.updated, finished = excluded.finished"""
_DELETE = "delete from hf_instance where id = any($1)"
_UNLIST = """insert into hf_unlisted (shard, is_new, tenants, ids, createds)
    select hf_shard(id), $2, array_agg(''::text), array_agg(id), array_agg(0::bigint) from unnest($1::text[]) id group by 1"""
_WRONG = """select coalesce(i.id, l.id), i.version, l.version, i.status, l.status
    from hf_instance i full join hf_listed l on l.tenant = i.tenant and l.id = i.id
    where (i.version, i.status) is distinct from (l.version, l.status)"""
_MISCOUNTED = """select status, sum(n) from (
        select status, count(*) as n from hf_instance group by 1
        union all select status, -sum(value) from hf_tally where hour = -1 group by 1) both_counts
    group by 1 having sum(n) <> 0"""


async def write(connection: Any, ids: list[str], version: int = 1, status: str = "running") -> None:
    """Write a version of these instances, in one transaction."""
    async with connection.transaction():
        await connection.execute(_WRITE, ids, version, status)
        await connection.execute(_UNLIST, ids, version == 1)


async def delete(connection: Any, ids: list[str]) -> None:
    async with connection.transaction():
        await connection.execute(_DELETE, ids)
        await connection.execute(_UNLIST, ids, False)


async def differences(connection: Any) -> list[tuple[Any, ...]]:
    """Instances that the list shows wrongly, and statuses that are counted wrongly."""
    return [tuple(row) for sql in (_WRONG, _MISCOUNTED) for row in await connection.fetch(sql)]
