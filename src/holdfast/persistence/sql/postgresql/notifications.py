"""Change notification between nodes: NOTIFY as a hint (rule M9).

A notification is sent after the commit, never inside it: there it would serialise the commits of the whole cluster, one fsync
each. It is sent on the listener's own connection, at most once per 5 ms, and only while another node listens. Each listener
holds a shared advisory lock that all nodes can see. Nodes poll for work anyway; a notification only ends their wait.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from time import monotonic

from holdfast.persistence.sql.postgresql.connection import STORE_ERRORS, Connection
from holdfast.persistence.sql.postgresql.pool import end

CHANNEL = "holdfast"
_NOTIFY_INTERVAL = 0.005
"""Smallest number of seconds between two notifications of one node."""
_RECONNECT_INTERVAL = 1.0
_LISTENER_CHECK_INTERVAL = 1.0
"""Seconds after which a node without other listeners checks for them again."""
_LISTENER_LOCK = 4711_2014_0817
_OTHER_LISTENERS = f"""
select exists (select 1 from pg_locks where locktype = 'advisory' and objsubid = 1
    and (classid::bigint << 32 | objid::bigint) = {_LISTENER_LOCK} and pid <> pg_backend_pid()
    and database = (select oid from pg_database where datname = current_database()))"""  # noqa: S608 - a number of ours

_log = logging.getLogger("holdfast.persistence.postgresql")


class Listener:
    def __init__(self, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._connect = connect
        self._connection: Connection | None = None
        self._number = 0
        self._waiters: set[asyncio.Future[None]] = set()
        self._hint = False
        self._sender: asyncio.Task[None] | None = None
        self._connecting = asyncio.Lock()
        self._others = False
        self._looked = 0.0
        self._closed = False

    def changed(self) -> None:
        """After a write of this process: wake its waiting calls and notify the other nodes."""
        self._wake_waiters()
        if not self._others and monotonic() - self._looked <= _LISTENER_CHECK_INTERVAL:
            return  # The last check found no other listener.
        self._hint = True
        if self._sender is None and not self._closed:
            self._sender = asyncio.get_running_loop().create_task(self._send(), name="holdfast-hint")

    async def wait(self, since: int, timeout: timedelta) -> int:
        until = monotonic() + timeout.total_seconds()
        while self._number == since and (left := until - monotonic()) > 0:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                if await self._listening():
                    await asyncio.wait([waiter], timeout=left)
                else:
                    await asyncio.wait([waiter], timeout=min(left, _RECONNECT_INTERVAL))
            finally:
                self._waiters.discard(waiter)
        return self._number

    async def close(self) -> None:
        self._closed = True
        if self._sender is not None:
            await self._sender
        connection, self._connection = self._connection, None
        if connection is not None:
            await end(connection)

    def _wake_waiters(self) -> None:
        self._number += 1
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def _listening(self) -> bool:
        """Connect if necessary. False if the server does not answer: nodes also poll, so this is not an error."""
        try:
            await self._open()
        except STORE_ERRORS as error:
            _log.warning("cannot listen for changes of other nodes, polling continues: %s", error)
            return False
        return True

    async def _open(self) -> Connection:
        async with self._connecting:
            if self._connection is None or self._connection.is_closed():
                connection = await self._connect()
                try:
                    await connection.add_listener(CHANNEL, self._on_notification)
                    await connection.execute(f"select pg_advisory_lock_shared({_LISTENER_LOCK})")
                except BaseException:
                    connection.terminate()
                    raise
                connection.add_termination_listener(self._on_disconnected)
                self._connection = connection
                self._wake_waiters()  # A change before the subscription was not notified.
            return self._connection

    def _on_notification(self, connection: Connection, sender: int, channel: str, payload: str) -> None:
        if sender != connection.get_server_pid():
            self._wake_waiters()

    def _on_disconnected(self, connection: Connection) -> None:
        """Wake all waiting calls: notifications may have been missed."""
        if not self._closed:
            self._wake_waiters()

    async def _send(self) -> None:
        while self._hint:
            self._hint = False
            try:
                connection = await self._open()
                if await self._has_other_listeners(connection):
                    await connection.execute(f"notify {CHANNEL}")
            except STORE_ERRORS as error:
                _log.warning("cannot notify other nodes of a change, they will poll: %s", error)
            await asyncio.sleep(_NOTIFY_INTERVAL)
        self._sender = None

    async def _has_other_listeners(self, connection: Connection) -> bool:
        if monotonic() - self._looked > _LISTENER_CHECK_INTERVAL:
            self._looked = monotonic()
            self._others = bool((await connection.fetch(_OTHER_LISTENERS))[0][0])
        return self._others
