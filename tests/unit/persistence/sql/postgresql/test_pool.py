"""The pool of PostgreSQL: cancelled callers leak no connection."""

from __future__ import annotations

import asyncio

import asyncpg  # type: ignore[import-untyped]  # the driver brings no types
import pytest

from holdfast.persistence.sql.postgresql.connection import ORDINARY, Connection, connect
from holdfast.persistence.sql.postgresql.pool import Pool

pytestmark = pytest.mark.service("postgres")


class Slow:
    """Opens a real connection once it is allowed to."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.begun = asyncio.Event()
        self.may_go_on = asyncio.Event()
        self.made: list[Connection] = []

    async def __call__(self) -> Connection:
        self.begun.set()
        await self.may_go_on.wait()
        self.made.append(await connect(self.url, ORDINARY))
        return self.made[-1]


async def test_opening_a_connection_is_not_cancelled(database: str) -> None:
    slow = Slow(database)
    pool = Pool(slow, 1)
    asking = asyncio.create_task(pool.take())
    await slow.begun.wait()

    asking.cancel()
    await asyncio.wait([asking])
    slow.may_go_on.set()
    await pool.close()

    assert asking.cancelled()
    assert [connection.is_closed() for connection in slow.made] == [True]


async def test_a_cancelled_caller_frees_its_place(database: str) -> None:
    slow = Slow(database)
    pool = Pool(slow, 1)
    asking = asyncio.create_task(pool.take())
    await slow.begun.wait()

    asking.cancel()
    slow.may_go_on.set()
    connection = await pool.take()

    assert await connection.fetch("select 1")
    pool.give_back(connection)
    await pool.close()


async def test_a_connection_in_an_unknown_state_is_closed_and_its_place_freed(database: str) -> None:
    pool = Pool(lambda: connect(database, ORDINARY), 1)
    lent: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()

    async def asks_for_long() -> None:
        async with pool.connection() as connection:
            lent.set_result(connection)
            await connection.execute("select pg_sleep(60)")

    asking = asyncio.create_task(asks_for_long())
    first = await lent
    asking.cancel()
    await asyncio.wait([asking])

    async with pool.connection() as second:
        assert await second.fetch("select 1")
        assert second is not first
    assert first.is_closed()
    await pool.close()


async def test_a_connection_is_reused_after_a_refused_statement(database: str) -> None:
    pool = Pool(lambda: connect(database, ORDINARY), 1)
    with pytest.raises(asyncpg.exceptions.DivisionByZeroError):
        async with pool.connection() as first:
            await first.fetch("select 1 / 0")

    async with pool.connection() as second:
        assert second is first
    await pool.close()
