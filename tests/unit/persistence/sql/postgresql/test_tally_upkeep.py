"""Counters of past hours are merged into one row, and old or empty counters are deleted."""

from __future__ import annotations

import pytest

from holdfast.model.listing import HOURS_KEPT
from holdfast.persistence.sql.postgresql.connection import ORDINARY, Connection, connect
from holdfast.persistence.sql.postgresql.list_projection import LOCK
from holdfast.persistence.sql.postgresql.migrate import migrate
from holdfast.persistence.sql.postgresql.pool import end
from holdfast.persistence.sql.postgresql.tally_upkeep import merge_tallies

pytestmark = pytest.mark.service("postgres")

_TALLY = """insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, shard, value)
    values ('', $1, 'd', 1, '', 'started', 0, $2, $3)"""
_HOURS = HOURS_KEPT.total_seconds() // 3600


async def tallies(connection: Connection, rows: list[tuple[int, int, int]]) -> int:
    """Write (hours ago or -1, shard, value); returns the present hour."""
    await migrate(connection)
    hour = int((await connection.fetch("select (extract(epoch from now()) / 3600)::bigint"))[0][0])
    await connection.executemany(
        _TALLY, [(-1 if ago == -1 else hour - ago, shard, value) for ago, shard, value in rows]
    )
    return hour


async def stored(connection: Connection, hour: int) -> set[tuple[int, int, int]]:
    rows = await connection.fetch("select hour, shard, value from hf_tally")
    return {(-1 if at == -1 else hour - at, shard, value) for at, shard, value in rows}


async def test_past_hours_are_merged(admin: Connection) -> None:
    hour = await tallies(admin, [(5, 0, 1), (5, 3, 2), (5, 7, 4), (9, 6, 1), (0, 2, 1), (0, 3, 1)])

    await merge_tallies(admin)

    assert await stored(admin, hour) == {(5, 0, 7), (9, 0, 1), (0, 2, 1), (0, 3, 1)}


async def test_old_hours_and_empty_counters_are_deleted(admin: Connection) -> None:
    old = int(_HOURS) + 2
    hour = await tallies(admin, [(old, 0, 1), (old, 4, 1), (-1, 1, 0), (-1, 2, 3)])

    await merge_tallies(admin)

    assert await stored(admin, hour) == {(-1, 2, 3)}


async def test_counters_of_a_shard_that_a_projector_holds_stay(database: str, admin: Connection) -> None:
    hour = await tallies(admin, [(5, 3, 2), (5, 4, 4)])
    other = await connect(database, ORDINARY)
    await other.execute(f"begin; select pg_advisory_xact_lock({LOCK}, 3)")

    await merge_tallies(admin)
    found = await stored(admin, hour)
    await end(other)

    assert found == {(5, 3, 2), (5, 0, 4)}
