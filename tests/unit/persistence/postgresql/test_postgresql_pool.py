"""Connections in the making: whoever gives up waiting leaves nothing behind."""

from __future__ import annotations

import asyncio

import pytest

from holdfast.persistence.sql.postgresql.connection import ORDINARY, Connection, connect
from holdfast.persistence.sql.postgresql.pool import Pool

pytestmark = pytest.mark.service("postgres")


class Slow:
    """Makes a real connection, when it may."""

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


async def test_a_greeting_is_not_interrupted_and_its_connection_ended(database: str) -> None:
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


async def test_the_place_is_free_for_the_next(database: str) -> None:
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
