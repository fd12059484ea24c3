"""The short form of the chaos test on PostgreSQL, whose server crashes too; the long form: `make chaos`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.support.chaos.store_chaos import chaos
from tests.support.services.availability import Needed
from tests.support.services.postgresql import PostgresServer

pytestmark = pytest.mark.service("postgres")


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """One of our own, since it is stopped in the middle of its work."""
    with Needed("postgres"), PostgresServer() as server:
        yield server


async def test_killed_workers_and_a_crashed_server_lose_nothing(server: PostgresServer) -> None:
    async def crash() -> None:
        await asyncio.to_thread(server.stop)
        await asyncio.to_thread(server.start)

    report = await chaos(server.url, kills=6, bursts=600, instances=40, keys=100, crash_database=crash, crashes=1)

    assert report.sound, report
    assert (report.kills, report.db_crashes) == (6, 1)
