"""The listener has one connection for several tasks: never two statements at a time, and none after a cancelled one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from holdfast.model.changes import UNKNOWN, Change
from holdfast.persistence.sql.postgresql.connection import LISTENER, Connection, connect
from holdfast.persistence.sql.postgresql.notifications import _ANYTHING_LOCK, _LISTENER_LOCK, Listener

pytestmark = pytest.mark.service("postgres")

CHANGE = Change(topics=frozenset({"queue"}))


class Opened:
    """Opens the connections of a listener and remembers them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.connections: list[Connection] = []

    async def __call__(self) -> Connection:
        self.connections.append(await connect(self.url, LISTENER))
        return self.connections[-1]


@pytest.fixture
def opened(database: str) -> Opened:
    return Opened(database)


@pytest.fixture
async def listener(opened: Opened) -> AsyncIterator[Listener]:
    made = Listener(opened)
    yield made
    await made.close()


async def blocked(admin: Connection) -> None:
    """Wait until a statement of the listener waits for a lock of `admin`."""
    async with asyncio.timeout(30):
        while not await admin.fetch("select 1 from pg_locks where locktype = 'advisory' and not granted"):
            pass


async def heard_by_another(database: str, listener: Listener) -> None:
    """Another listener hears of a change of this one."""
    other = Listener(lambda: connect(database, LISTENER))
    try:
        number = await other.wait(0, timedelta(seconds=30))  # It listens.
        listener.changed(CHANGE)
        assert await other.wait(number, timedelta(seconds=30)) > number
    finally:
        await other.close()


async def test_a_notification_waits_for_the_statement_of_the_keeper(
    admin: Connection, database: str, opened: Opened, listener: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    await admin.execute(f"select pg_advisory_lock({_ANYTHING_LOCK})")
    listener.subscribe(lambda _: None, anything=True)
    await blocked(admin)

    with caplog.at_level(logging.WARNING):
        listener.changed(CHANGE)
        sender = listener._sender
        assert sender is not None
        await asyncio.sleep(0)
        assert not sender.done()
        await admin.execute(f"select pg_advisory_unlock({_ANYTHING_LOCK})")
        await sender
        await heard_by_another(database, listener)

    assert not caplog.records
    assert len(opened.connections) == 1


async def test_a_cancelled_statement_leaves_no_busy_connection(
    admin: Connection, database: str, opened: Opened, listener: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    await admin.execute(f"select pg_advisory_lock({_ANYTHING_LOCK})")
    listener.subscribe(lambda _: None, anything=True)
    await blocked(admin)
    keeper = listener._keeper
    assert keeper is not None

    with caplog.at_level(logging.WARNING):
        keeper.cancel()
        await asyncio.wait([keeper])
        await admin.execute(f"select pg_advisory_unlock({_ANYTHING_LOCK})")
        listener.subscribe(lambda _: None)
        await heard_by_another(database, listener)

    assert not caplog.records
    assert opened.connections[0].is_closed()


async def test_close_ends_while_a_statement_waits(
    admin: Connection, opened: Opened, listener: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    await admin.execute(f"select pg_advisory_lock({_ANYTHING_LOCK})")
    listener.subscribe(lambda _: None, anything=True)
    await blocked(admin)

    with caplog.at_level(logging.WARNING):
        listener.changed(UNKNOWN)
        await listener.close()

    assert not caplog.records
    assert all(connection.is_closed() for connection in opened.connections)


async def test_a_lock_that_was_not_granted_is_taken_on_the_next_connection(
    admin: Connection, opened: Opened, listener: Listener
) -> None:
    """The keeper holds both locks again after its connection broke."""
    listener.subscribe(lambda _: None, anything=True)
    for broken in range(2):
        async with asyncio.timeout(30):
            while {row[0] for row in await admin.fetch(_HELD)} != {_LISTENER_LOCK, _ANYTHING_LOCK}:
                pass
        if not broken:
            opened.connections[0].terminate()
            listener._woken.set()
            async with asyncio.timeout(30):
                while await admin.fetch(_HELD) and len(opened.connections) == 1:
                    pass


_HELD = """select classid::bigint << 32 | objid::bigint from pg_locks where locktype = 'advisory' and objsubid = 1 and granted
    and database = (select oid from pg_database where datname = current_database())"""
