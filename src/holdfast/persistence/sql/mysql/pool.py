"""Pool of connections for one use. A lost connection drops all idle ones, which are most likely lost as well."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

from holdfast.persistence.sql.mysql.address import MysqlAddress
from holdfast.persistence.sql.mysql.errors import MysqlError, is_lost
from holdfast.persistence.sql.mysql.session import ConnectionUse, Session

_PING_AFTER_IDLE = 30.0
"""Idle seconds after which a connection is pinged before it is used."""


class Pool:
    def __init__(self, address: MysqlAddress, use: ConnectionUse, size: int) -> None:
        self._address = address
        self._use = use
        self._gate = asyncio.Semaphore(size)
        self._free: list[Session] = []
        self._closed = False

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """A connection without a transaction. Uncommitted changes are rolled back at the end of the block."""
        session = await self.take()
        try:
            yield session
        except BaseException as error:
            await self.give(session, error)
            raise
        await self.give(session)

    async def take(self) -> Session:
        await self._gate.acquire()
        try:
            while self._free:
                session = self._free.pop()
                if session.usable and (monotonic() - session.used < _PING_AFTER_IDLE or await session.is_alive()):
                    return session
                session.drop()
            return await Session.connect(self._address, self._use)
        except BaseException:
            self._gate.release()
            raise

    async def give(self, session: Session, error: BaseException | None = None) -> None:
        """Return a connection after a rollback. Drop it if the error left it in an unknown state."""
        try:
            if isinstance(error, asyncio.CancelledError | GeneratorExit) or not session.usable:
                session.drop()
            elif error is not None and is_lost(error):
                session.drop()
                self._drop_free()
            else:
                await self._keep(session)
        finally:
            self._gate.release()

    async def _keep(self, session: Session) -> None:
        try:
            await session.rollback()
        except (MysqlError, OSError):
            session.drop()
            return
        except BaseException:
            session.drop()
            raise
        if self._closed:
            await session.close()
        else:
            self._free.append(session)

    def _drop_free(self) -> None:
        while self._free:
            self._free.pop().drop()

    async def close(self) -> None:
        self._closed = True
        while self._free:
            await self._free.pop().close()
