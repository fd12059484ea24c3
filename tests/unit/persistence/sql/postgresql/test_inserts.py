"""Inserts of rows that may be stored already: one statement if all are new, two if not."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from holdfast.persistence.codec import PayloadCodec
from holdfast.persistence.sql.postgresql.connection import LANE, Connection, connect
from holdfast.persistence.sql.postgresql.inserts import insert_new
from holdfast.persistence.sql.postgresql.pool import end
from holdfast.persistence.sql.postgresql.store import PostgresStore
from holdfast.persistence.sql.work_tables import WORK
from holdfast.testing.store_rows import work

pytestmark = pytest.mark.service("postgres")


@pytest.fixture
async def connection(admin: Connection, database: str) -> AsyncIterator[Connection]:
    """A connection to an empty database with the schema."""
    store = PostgresStore(database)
    await store.open()
    await store.close()
    connection = await connect(database, LANE)
    yield connection
    await end(connection)


async def inserted(connection: Connection, *ids: str) -> list[bool]:
    rows = [WORK.encode(work("t", id=name), PayloadCodec()) for name in ids]
    return await insert_new(WORK, "work_added", rows)(connection)


async def test_new_rows_are_inserted(connection: Connection) -> None:
    assert await inserted(connection, "a", "b") == [True, True]
    assert [row[0] for row in await connection.fetch("select id from hf_work order by id")] == ["a", "b"]


async def test_existing_rows_are_skipped(connection: Connection) -> None:
    await inserted(connection, "a")

    assert await inserted(connection, "a", "b") == [False, True]


async def test_a_repeated_row_is_new_once(connection: Connection) -> None:
    assert await inserted(connection, "a", "a", "b") == [True, False, True]


async def test_no_rows_send_no_statement(connection: Connection) -> None:
    assert await inserted(connection) == []
