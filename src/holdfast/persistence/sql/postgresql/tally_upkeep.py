"""Upkeep of the counters of instances: merges the shards of past hours, and deletes counters that are not needed.

It works under the locks of the shards, as projectors do, but never waits for one: shards that a projector holds are left for
the next time. Counters of the present instances are deleted when they are zero. An instance stays in its shard, so each row is
zero when no instance is left.
"""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from holdfast.model.listing import HOURS_KEPT
from holdfast.persistence.sql.postgresql.claim import NOW
from holdfast.persistence.sql.postgresql.connection import Connection
from holdfast.persistence.sql.postgresql.list_projection import LOCK, SHARDS, transaction
from holdfast.persistence.sql.search import HOUR

_KEY = "tenant, hour, definition_id, definition_version, content, status, is_system"
_LOCK_FREE = f"""select array(select s from generate_series(0, {SHARDS - 1}) s where pg_try_advisory_xact_lock({LOCK}, s)),
    {NOW} / {HOUR}"""
_FORGET = "delete from hf_tally where shard = any($1) and (value = 0 or (hour >= 0 and hour < $2))"
_MERGE = f"""with parts as (
    delete from hf_tally where shard = any($1) and shard > 0 and hour >= 0 and hour < $2 returning {_KEY}, value
) insert into hf_tally as t ({_KEY}, shard, value) select {_KEY}, 0, sum(value) from parts group by {_KEY}
    on conflict ({_KEY}, shard) do update set value = t.value + excluded.value"""
_HOURS_KEPT = round(HOURS_KEPT.total_seconds()) // 3600


async def merge_tallies(connection: Connection) -> None:
    """Merge and delete counters of all shards that are free."""
    async with transaction(connection):
        ((shards, hour),) = await connection.fetch(_LOCK_FREE)
        await connection.execute(_FORGET, shards, hour - _HOURS_KEPT)
        if 0 in shards:  # It takes the counts of the others.
            await connection.execute(_MERGE, shards, hour - 1)
