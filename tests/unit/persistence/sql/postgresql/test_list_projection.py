"""One transaction of the projection: shards are projected apart, an interrupted transaction loses nothing, counters are exact."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest

from holdfast.persistence.sql.postgresql.connection import LANE, Connection, connect
from holdfast.persistence.sql.postgresql.list_projection import LOCK, SHARDS, project, sweep, work_off
from holdfast.persistence.sql.postgresql.migrate import migrate
from holdfast.persistence.sql.postgresql.pool import end
from tests.support.unlisted_instances import delete, differences, write

pytestmark = pytest.mark.service("postgres")

IDS = [f"i{number}" for number in range(100)]
MANY = [f"i{number}" for number in range(200)]
_BY_HOUR = "select status, sum(value)::int from hf_tally where hour >= 0 group by 1"
_TRIGGERS = "select proname, prosrc from pg_proc where proname like 'hf_tally_%'"
_WAITING = """select count(*) from pg_locks
    where not granted and database = (select oid from pg_database where datname = current_database())"""


@pytest.fixture
async def lane(database: str, admin: Connection) -> AsyncIterator[Connection]:
    await migrate(admin)
    connection = await connect(database, LANE)
    yield connection
    await end(connection)


async def shard_of(connection: Connection, instance_id: str) -> int:
    return int((await connection.fetch("select hf_shard($1)", instance_id))[0][0])


async def test_the_ids_use_all_shards(admin: Connection, lane: Connection) -> None:
    found = await admin.fetch("select distinct hf_shard('i' || n) from generate_series(1, 1000) n")

    assert sorted(row[0] for row in found) == list(range(SHARDS))


async def test_a_sweep_lists_all_shards(admin: Connection, lane: Connection) -> None:
    await write(admin, IDS)
    await write(admin, MANY[:50], 2, "finished")
    await write(admin, ["gone"])
    await delete(admin, ["gone"])

    assert await sweep(lane) == set()
    assert await differences(admin) == []
    assert (await admin.fetch("select count(*) from hf_unlisted"))[0][0] == 0


async def test_a_shard_that_another_projector_holds_stops_no_other(admin: Connection, lane: Connection) -> None:
    await write(admin, IDS)
    held = await shard_of(admin, "i0")
    await admin.execute(f"begin; select pg_advisory_xact_lock({LOCK}, {held})")

    assert await sweep(lane) == {held}
    assert await work_off(lane, {held}) is None
    listed = await lane.fetch("select count(*), count(*) filter (where hf_shard(id) = $1) from hf_listing", held)
    assert listed[0][0] > 70
    assert listed[0][1] == 0

    waiting = asyncio.create_task(work_off(lane, {held}, wait=True))
    while not (await admin.fetch(_WAITING))[0][0]:
        continue
    await admin.execute("commit")

    assert await waiting == set()
    assert await differences(admin) == []


async def test_a_backlog_is_worked_off_shard_by_shard(admin: Connection, lane: Connection) -> None:
    for version in range(1, 70):
        await write(admin, ["a", "b"], version)
    shards = {await shard_of(admin, name) for name in "ab"}

    assert await sweep(lane) == shards
    assert await project(lane)

    assert await differences(admin) == []


async def test_an_interrupted_projection_is_done_again(database: str, admin: Connection, lane: Connection) -> None:
    await write(admin, IDS)
    killed = await connect(database, LANE)
    await admin.execute("begin; lock table hf_group in exclusive mode")  # The projector stops in the middle.
    running = asyncio.create_task(sweep(killed))
    while not (await admin.fetch(_WAITING))[0][0]:
        continue
    await admin.fetch("select pg_terminate_backend($1)", killed.get_server_pid())
    with pytest.raises(Exception, match=r"terminat|connection"):
        await running
    await admin.execute("rollback")

    assert (await admin.fetch("select count(*) from hf_listing"))[0][0] == 0
    assert await sweep(lane) == set()
    assert await differences(admin) == []


# -- counters: exact after statements of many rows, whatever happened to these rows between two projections -----------


async def by_hour(admin: Connection) -> dict[str, int]:
    return {row[0]: row[1] for row in await admin.fetch(_BY_HOUR)}


async def test_an_instance_is_counted_each_time_it_ends(admin: Connection, lane: Connection) -> None:
    await write(admin, MANY)
    await project(lane)
    assert await by_hour(admin) == {"started": 200}

    for version, (part, status) in enumerate(
        [(MANY[:150], "finished"), (MANY[:50], "running"), (MANY[:100], "finished")], start=2
    ):
        await write(admin, part, version, status)
        await project(lane)

    assert await by_hour(admin) == {"started": 200, "finished": 150 + 50}
    assert await differences(admin) == []


async def test_instances_that_are_listed_twice_or_deleted_are_not_counted_again(
    admin: Connection, lane: Connection
) -> None:
    await write(admin, MANY, 1, "finished")
    await project(lane)
    await write(admin, MANY, 2, "finished")  # Changed after its end.
    await project(lane)
    await delete(admin, MANY[:30])
    await project(lane)

    assert await by_hour(admin) == {"started": 200, "finished": 200}
    assert await differences(admin) == []


async def test_random_changes_are_counted_exactly(admin: Connection, lane: Connection) -> None:
    random = Random(3)
    await write(admin, MANY)
    for version in range(2, 30):
        await write(admin, random.sample(MANY, 60), version, random.choice(("running", "suspended", "faulted")))
        if version % 3 == 0:
            await project(lane)
            assert await differences(admin) == []
    await project(lane)
    await delete(admin, MANY)
    await project(lane)

    assert await differences(admin) == []
    assert (await admin.fetch("select count(*) from hf_tally where hour = -1 and value < 0"))[0][0] == 0


async def test_triggers_do_not_join_old_with_new_rows(admin: Connection, lane: Connection) -> None:
    """The plan of a trigger is made for the first statement of its session. With one row, that is a nested loop."""
    found = {row[0]: row[1] for row in await admin.fetch(_TRIGGERS)}

    assert sorted(found) == ["hf_tally_deleted", "hf_tally_inserted", "hf_tally_updated"]
    for source in found.values():
        assert "join old_rows" not in source
        assert "join new_rows" not in source
