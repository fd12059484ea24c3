"""Pool of connections of one kind, opened on demand up to a limit.

A connection that is broken or inside a transaction is closed instead of reused. Opening a connection is never canceled: the
driver would log an error for an interrupted handshake.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from holdfast.persistence.sql.postgresql.connection import DATABASE_ERRORS, Connection, breaks_connection

_CLOSE_TIMEOUT = 5.0
"""Seconds that a connection may take to close."""


class Pool:
    def __init__(self, connect: Callable[[], Awaitable[Connection]], limit: int) -> None:
        self._connect = connect
        self._places = asyncio.Semaphore(limit)
        self._idle: list[Connection] = []
        self._opening: set[asyncio.Future[Connection]] = set()

    async def take(self) -> Connection:
        await self._places.acquire()
        try:
            while self._idle:
                connection = self._idle.pop()
                if not connection.is_closed():
                    return connection
            return await self._open()
        except BaseException:
            self._places.release()
            raise

    async def _open(self) -> Connection:
        opening = asyncio.ensure_future(self._connect())
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close_unused)
            raise

    def give_back(self, connection: Connection) -> None:
        if connection.is_closed() or connection.is_in_transaction():
            connection.terminate()
        else:
            self._idle.append(connection)
        self._places.release()

    def drop_idle(self) -> None:
        """Close all idle connections after a timeout: most likely none of them answers, and each would time out."""
        while self._idle:
            self._idle.pop().terminate()

    def connection(self) -> Checkout:
        return Checkout(self)

    @asynccontextmanager
    async def transaction(self, begin: str = "begin") -> AsyncIterator[Connection]:
        async with self.connection() as connection, in_transaction(connection, begin):
            yield connection

    async def close(self) -> None:
        if self._opening:
            await asyncio.wait(self._opening, timeout=_CLOSE_TIMEOUT)
        while self._idle:
            await end(self._idle.pop())


class Checkout:
    """`async with` a connection. A class instead of an async generator, which is slower: every commit uses it."""

    __slots__ = ("_connection", "_pool")

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def __aenter__(self) -> Connection:
        connection = self._connection = await self._pool.take()
        return connection

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None and breaks_connection(error):
            self._connection.terminate()
            if isinstance(error, TimeoutError):
                self._pool.drop_idle()
        self._pool.give_back(self._connection)


def _close_unused(opened: asyncio.Future[Connection]) -> None:
    """Close a connection whose caller was canceled."""
    if not opened.cancelled() and opened.exception() is None:
        opened.result().terminate()


@asynccontextmanager
async def in_transaction(connection: Connection, begin: str = "begin") -> AsyncIterator[None]:
    """Commit at the end of the block, roll back after an error."""
    await connection.execute(begin)
    try:
        yield
        await connection.execute("commit")
    except BaseException:
        await roll_back(connection)
        raise


async def roll_back(connection: Connection) -> None:
    """Roll back. If that fails, close the connection, which has the same effect."""
    try:
        if not connection.is_closed() and connection.is_in_transaction():
            await connection.execute("rollback")
    except DATABASE_ERRORS:
        connection.terminate()


async def end(connection: Connection) -> None:
    try:
        await connection.close(timeout=_CLOSE_TIMEOUT)
    except DATABASE_ERRORS:
        connection.terminate()
