"""Many projectors at once on PostgreSQL: counts are exact, no instance is lost or stale, and no deadlock happens."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from holdfast.persistence.sql.postgresql import PostgresStore
from holdfast.persistence.sql.postgresql.connection import LANE, ORDINARY, connect
from holdfast.persistence.sql.postgresql.list_projection import project
from holdfast.persistence.sql.postgresql.pool import end
from tests.support.unlisted_instances import delete, differences, write

pytestmark = pytest.mark.service("postgres")

PROJECTORS = 6
WRITERS = 3
VERSIONS = 40
STATUSES = ("running", "suspended", "faulted", "finished")
_DEADLOCKS = "select deadlocks from pg_stat_database where datname = current_database()"


class Projecting:
    """A projector that works until it is told to stop, and that reconnects when its session is killed."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: Any = None
        self.killed = 0
        self.stopped = False

    async def run(self) -> None:
        while not self.stopped:
            self._connection = await connect(self._url, LANE)
            try:
                await self._work()
            except Exception:
                if not self._connection.is_closed():
                    raise
                self.killed += 1
            finally:
                await end(self._connection)

    async def _work(self) -> None:
        while not self.stopped:
            await project(self._connection)
            await asyncio.sleep(0)

    async def kill(self, admin: Any) -> None:
        if self._connection is not None and not self._connection.is_closed():
            await admin.fetch("select pg_terminate_backend($1)", self._connection.get_server_pid())


async def _write(url: str, number: int) -> None:
    """Versions of the instances of this writer in random batches; the last third is deleted in the end."""
    random, connection = Random(number), await connect(url, ORDINARY)
    ids = [f"w{number}-{each}" for each in range(60)]
    await write(connection, ids)
    for version in range(2, VERSIONS):
        await write(connection, random.sample(ids, 20), version, random.choice(STATUSES))
    await delete(connection, ids[40:])
    await end(connection)


async def test_projectors_that_are_killed_lose_and_miscount_nothing(fresh_postgres: str) -> None:
    store = PostgresStore(fresh_postgres)
    await store.open()
    await store.close()
    admin = await connect(fresh_postgres, ORDINARY)
    projectors = [Projecting(fresh_postgres) for _ in range(PROJECTORS)]
    running = [asyncio.create_task(projector.run()) for projector in projectors]
    writers = asyncio.gather(*(_write(fresh_postgres, number) for number in range(WRITERS)))
    random = Random(7)
    while not writers.done():
        await random.choice(projectors).kill(admin)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(writers), 0.05)
    await writers
    for projector in projectors:
        projector.stopped = True
    await asyncio.gather(*running)
    await project(admin, wait=True)

    assert sum(projector.killed for projector in projectors) > 0
    assert await differences(admin) == []
    assert (await admin.fetch("select count(*) from hf_listing"))[0][0] == WRITERS * 40
    started = await admin.fetch("select sum(value) from hf_tally where hour >= 0 and status = 'started'")
    assert started[0][0] == WRITERS * 60
    assert (await admin.fetch(_DEADLOCKS))[0][0] == 0
    await end(admin)
