"""Session: one connection to a server with the settings of rule M16, on which scripts run.

Autocommit is off: the first statement begins the transaction. Writers use READ COMMITTED, because under MySQL's default
isolation level two *different* absent keys deadlock (Y4). Readers see one snapshot and cannot write.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from enum import Enum
from time import monotonic
from typing import Any, TypeVar

import asyncmy
from asyncmy.constants import FIELD_TYPE
from asyncmy.converters import conversions, escape_bytes_prefixed
from asyncmy.errors import OperationalError

from holdfast.errors import StoreMisconfigured
from holdfast.persistence.sql.mysql.address import MysqlAddress
from holdfast.persistence.sql.mysql.errors import NO_REPLY, MysqlError, explained
from holdfast.persistence.sql.mysql.statements import texts_of
from holdfast.persistence.sql.script import Rows, Script, Statement, execute

T = TypeVar("T")

CHANGE_COUNTERS = 256
"""Rows of `hf_change`. Each connection counts its commits in one of them, so that commits do not wait for each other."""

_SQL_MODE = "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION"
_IDLE_TIMEOUT = "/*M!100301, idle_transaction_timeout = 30 */ /*!80000, wait_timeout = 30 */"
"""A frozen process, or one whose machine is gone, keeps its connection open and its claimed rows locked. After so many
seconds the server releases them. MySQL has no such timeout for transactions, only one for connections."""
_SETTINGS = f"set session sql_mode = '{_SQL_MODE}', time_zone = '+00:00', innodb_lock_wait_timeout = 20 {_IDLE_TIMEOUT}"
REPLY_TIMEOUT = timedelta(seconds=60)
"""Time that a statement may take. A vanished server or a hanging proxy sends nothing, so without a limit the caller would
wait forever."""
_ABOUT = "select version(), @@max_allowed_packet, connection_id(), @@innodb_read_only"
_HEADROOM = 1024
_PING_TIMEOUT = 5.0
"""Seconds that a ping may take."""
_OLDEST_VERSIONS = {"MySQL": (8, 0, 1), "MariaDB": (10, 6, 0)}


class ConnectionUse(Enum):
    """The use of a connection, with the statement that sets its isolation level."""

    WRITE = "set session transaction isolation level read committed, read write"
    READ = "set session transaction isolation level repeatable read, read only"


def _text(raw: bytes | str) -> str:
    return raw if isinstance(raw, str) else raw.decode()


_CONVERSIONS: Mapping[Any, Any] = {
    **conversions,
    FIELD_TYPE.VAR_STRING: _text,  # Texts are stored as VARBINARY. Payloads are BLOBs and stay bytes.
    FIELD_TYPE.STRING: _text,
}

_connect: Callable[..., Awaitable[Any]] = asyncmy.connect


class Session:
    """A connection with the state of its server and its transaction."""

    def __init__(self, connection: Any, reply_timeout: timedelta | None = None) -> None:
        self._connection = connection
        self._reply_timeout = None if reply_timeout is None else reply_timeout.total_seconds()
        self._packet = 1 << 20
        self._counter = 0
        self._written = False
        self.server = ""
        self.used = monotonic()

    @classmethod
    async def connect(
        cls, address: MysqlAddress, use: ConnectionUse = ConnectionUse.WRITE, *, limited: bool = True
    ) -> Session:
        """Open a connection. Statements of a connection that is not `limited` have no timeout."""
        try:
            connection = await _connect(
                host=address.host,
                port=address.port,
                user=address.user,
                password=address.password,
                database=address.database or None,
                unix_socket=address.unix_socket,
                ssl=address.tls,
                connect_timeout=address.connect_timeout.total_seconds(),
                charset="utf8mb4",
                conv=_CONVERSIONS,
                autocommit=False,
                program_name="holdfast",
            )
        except RuntimeError as error:  # The authentication of MySQL 8 needs the package cryptography.
            raise StoreMisconfigured(
                f"The authentication method of the server at {address.place} needs another package ({error}). "
                "Install it with: pip install 'holdfast[mysql]'"
            ) from error
        session = cls(connection, REPLY_TIMEOUT if limited else None)
        try:
            await session._set_up(use, address)
        except BaseException:
            session.drop()
            raise
        return session

    async def _set_up(self, use: ConnectionUse, address: MysqlAddress) -> None:
        await self.send(f"{_SETTINGS};{use.value}")
        (about,) = await self.send(_ABOUT)
        self.server, packet, number, read_only = about
        check_version(self.server, address)
        if use is ConnectionUse.WRITE and read_only:
            raise explained(MysqlError(1290, "innodb_read_only"), address)
        self._packet = int(packet) - _HEADROOM
        self._counter = int(number) % CHANGE_COUNTERS
        await self._connection.rollback()

    @property
    def usable(self) -> bool:
        """Whether the client sees no error. The server may have closed the connection in the meantime."""
        return bool(self._connection.connected) and not getattr(self._connection, "_stream_broken", False)

    @property
    def is_mariadb(self) -> bool:
        return "MariaDB" in self.server

    async def send(self, text: str) -> Rows:
        """Send a text of one or more statements. Returns the rows of the first."""
        rows: Rows = await self._within_timeout(self._exchange(text))
        self.used = monotonic()
        return rows

    async def _exchange(self, text: str) -> Rows:
        async with self._connection.cursor() as cursor:  # Closing the cursor reads the remaining results.
            await cursor.execute(text)
            rows: Rows = await cursor.fetchall()
        return rows

    async def _within_timeout(self, reply: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._reply_timeout):
                return await reply
        except TimeoutError as error:
            self.drop()
            raise OperationalError(NO_REPLY, f"no answer within {self._reply_timeout:.0f} seconds") from error

    async def perform(self, statement: Statement) -> Rows:
        rows: Rows = ()
        self._written = self._written or not statement.sql.startswith("select")
        for text in texts_of(statement, escape_bytes_prefixed, self._packet):
            rows = await self.send(text)
        return rows

    async def run(self, script: Script[T]) -> T:
        """Send a script's statements until it returns."""
        try:
            statement = next(script)
            while True:
                statement = script.send(await self.perform(statement))
        except StopIteration as done:
            result: T = done.value
            return result
        finally:
            script.close()

    async def commit(self) -> bool:
        """Commit, durable when it returns, and count the change for other nodes. False if there was nothing to commit."""
        written, self._written = self._written, False
        if written:
            await self.send(f"update hf_change set value = value + 1 where lane = {self._counter};commit")  # noqa: S608
        else:
            await self._within_timeout(self._connection.rollback())
        return written

    async def rollback(self) -> None:
        self._written = False
        await self._within_timeout(self._connection.rollback())

    async def is_alive(self) -> bool:
        try:
            async with asyncio.timeout(_PING_TIMEOUT):
                await self._connection.ping(reconnect=False)
        except (MysqlError, OSError):
            return False
        return True

    async def execute(self, sql: str, *values: str | int | bytes | None) -> Rows:
        return await self.perform(execute(sql, *values))

    def drop(self) -> None:
        """Close the socket without a goodbye. The server rolls back the open transaction."""
        self._connection.close()

    async def close(self) -> None:
        try:
            await self._connection.ensure_closed()
        except (MysqlError, OSError):
            self.drop()


def check_version(server: str, address: MysqlAddress) -> None:
    """Refuse servers without SKIP LOCKED."""
    kind = "MariaDB" if "mariadb" in server.lower() else "MySQL"
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", server.removeprefix("5.5.5-"))
    oldest = _OLDEST_VERSIONS[kind]
    if found is not None and tuple(map(int, found.groups())) < oldest:
        raise StoreMisconfigured(
            f"The server at {address.place} is {kind} {found[0]}, which cannot skip locked rows. "
            f"Holdfast needs MySQL 8 or MariaDB 10.6: upgrade the server."
        )
