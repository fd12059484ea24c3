"""The projector: it lists soon after a commit, and before a list is read it waits for other projectors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from holdfast.persistence.sql.postgresql.connection import LANE, Connection, connect
from holdfast.persistence.sql.postgresql.instance_list import Projector
from holdfast.persistence.sql.postgresql.list_projection import LOCK
from holdfast.persistence.sql.postgresql.migrate import migrate
from holdfast.persistence.sql.postgresql.pool import Pool
from tests.support.unlisted_instances import differences, write

pytestmark = pytest.mark.service("postgres")

_WAITING = """select count(*) from pg_locks
    where not granted and database = (select oid from pg_database where datname = current_database())"""
_LOCK = f"begin; select pg_advisory_xact_lock({LOCK}, hf_shard('i'))"


@pytest.fixture
async def projector(database: str, admin: Connection) -> AsyncIterator[Projector]:
    await migrate(admin)
    pool = Pool(lambda: connect(database, LANE), 1)
    projector = Projector(pool, pause=0.01)
    yield projector
    await projector.close()
    await pool.close()


async def test_a_marked_commit_is_listed_by_the_last_round(admin: Connection, projector: Projector) -> None:
    await write(admin, ["i"])
    projector.mark()

    await projector.close()

    assert await differences(admin) == []


async def test_a_round_continues_after_another_projector_released_a_shard(
    admin: Connection, projector: Projector
) -> None:
    await write(admin, ["i"])
    await admin.execute(_LOCK)
    projector.mark()
    for _ in range(20):
        await asyncio.sleep(0)
    await admin.execute("commit")

    task = projector._task
    assert task is not None
    await task

    assert await differences(admin) == []


async def test_a_list_waits_for_other_projectors(admin: Connection, projector: Projector) -> None:
    await write(admin, ["i"])
    await admin.execute(_LOCK)
    reading = asyncio.create_task(projector.catch_up(timedelta(minutes=1)))
    while not (await admin.fetch(_WAITING))[0][0]:
        continue
    assert not reading.done()
    await admin.execute("commit")

    await reading

    assert await differences(admin) == []


async def test_counters_are_merged_after_a_round_when_the_interval_is_over(database: str, admin: Connection) -> None:
    await migrate(admin)
    pool = Pool(lambda: connect(database, LANE), 1)
    projector = Projector(pool, pause=0, merge_interval=-1)
    await write(admin, [f"i{number}" for number in range(50)], status="finished")
    await projector.catch_up()

    found = await admin.fetch("select count(*) from hf_tally where hour >= 0")

    await pool.close()
    assert found[0][0] == 0  # The instances started and ended in 1970.
    assert await differences(admin) == []
