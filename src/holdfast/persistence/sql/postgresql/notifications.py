"""Changes between nodes: NOTIFY as a hint (rule M9).

A notification is sent after the commit, never inside it: there it would serialize the commits of the whole cluster, one fsync
each. It is sent on the listener's own connection, at most once per 5 ms, with the topics of all commits in between. The keeper
and the sender share this connection, one after the other: the driver refuses a statement while another one runs.

A change without a topic is sent only while another node waits for any change. Each listener holds a shared advisory lock that
all nodes can see, and a second one while it waits for any change. A node checks these locks at most once per second, and only
after a commit. A node that begins to wait also announces it, so that nodes that listen know at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from time import monotonic

from holdfast.model.changes import UNKNOWN, Change
from holdfast.persistence.change_hub import ChangeHub, OnChange
from holdfast.persistence.sql.postgresql.connection import STORE_ERRORS, Connection, breaks_connection
from holdfast.persistence.sql.postgresql.pool import end

CHANNEL = "holdfast"
_NOTIFY_INTERVAL = 0.005
"""Smallest number of seconds between two notifications of one node."""
_RECONNECT_INTERVAL = 1.0
_CHECK_INTERVAL = 1.0
"""Seconds for which the answer of a check of the locks is used."""
_LINGER = 10.0
"""Seconds for which a node stays interested in any change after its last waiting call."""
_LISTENER_LOCK = 4711_2014_0817
_ANYTHING_LOCK = 4711_2014_0818
_OTHERS = """
select classid::bigint << 32 | objid::bigint from pg_locks where locktype = 'advisory' and objsubid = 1
    and pid <> pg_backend_pid() and database = (select oid from pg_database where datname = current_database())"""
_ANNOUNCEMENT = "?"
_ANYTHING = "*"
_PAYLOAD_MAX = 7000
"""Bytes of a payload; PostgreSQL allows 8000. Longer lists of topics are sent as "anything"."""

_log = logging.getLogger("holdfast.persistence.postgresql")


class Listener:
    def __init__(self, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._connect = connect
        self._connection: Connection | None = None
        self._turn = asyncio.Lock()
        """Held by the task that uses the connection."""
        self._hub = ChangeHub()
        self._topics: set[str] | None = set()
        """Topics to send; None: anything."""
        self._pending = False
        self._sender: asyncio.Task[None] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._others = self._others_want_all = False
        self._checked = float("-inf")
        self._waited = float("-inf")
        """When a call last waited for any change."""
        self._holds_anything = False
        self._woken = asyncio.Event()
        """A component begins to wait for any change."""
        self._closed = False

    def changed(self, change: Change) -> None:
        """After a write of this process: tell its components and notify the other nodes."""
        self._hub.publish(change)
        is_known = monotonic() - self._checked <= _CHECK_INTERVAL
        wanted = self._others_want_all or (self._others and change.topics != frozenset())
        if self._closed or (is_known and not wanted):
            return
        if change.topics is None:
            self._topics = None
        elif self._topics is not None:
            self._topics |= change.topics
        self._pending = True
        if self._sender is None:
            self._sender = asyncio.get_running_loop().create_task(self._send(), name="holdfast-notify")

    def subscribe(self, on_change: OnChange, *, anything: bool = False) -> Callable[[], None]:
        self._keep_listening()
        end = self._hub.subscribe(on_change, anything=anything)
        if anything:
            self._waited = monotonic()
            self._woken.set()
        return end

    async def wait(self, since: int, timeout: timedelta) -> int:
        if self._hub.number == since and timeout > timedelta(0):
            self._waited = monotonic()
            self._keep_listening()
            self._woken.set()
        try:
            return await self._hub.wait(since, timeout)
        finally:
            self._waited = monotonic()

    async def close(self) -> None:
        self._closed = True
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        if self._sender is not None:
            await self._sender
        connection, self._connection = self._connection, None
        if connection is not None:
            await end(connection)

    # -- connection ----------------------------------------------------------------------------------------------------

    def _keep_listening(self) -> None:
        if (self._keeper is None or self._keeper.done()) and not self._closed:
            self._keeper = asyncio.get_running_loop().create_task(self._keep(), name="holdfast-listener")

    async def _keep(self) -> None:
        """Stay connected while components of this process wait for changes."""
        while self._hub.is_used or monotonic() - self._waited < _LINGER:
            try:
                async with self._exclusive() as connection:
                    await self._adjust(connection)
            except STORE_ERRORS as error:
                _log.warning("cannot listen for changes of other nodes, polling continues: %s", error)
                await asyncio.sleep(_RECONNECT_INTERVAL)
            self._woken.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(_RECONNECT_INTERVAL):
                    await self._woken.wait()

    async def _adjust(self, connection: Connection) -> None:
        """Hold the lock of nodes that wait for any change while a call waits, and for some seconds after that."""
        waits = self._hub.wants_anything or monotonic() - self._waited < _LINGER
        if waits and not self._holds_anything:
            await connection.execute(
                f"select pg_advisory_lock_shared({_ANYTHING_LOCK}); notify {CHANNEL}, '{_ANNOUNCEMENT}'"
            )
            self._holds_anything = True
            self._hub.publish(UNKNOWN)  # Changes before that were not notified.
        elif not waits and self._holds_anything:
            await connection.execute(f"select pg_advisory_unlock_shared({_ANYTHING_LOCK})")
            self._holds_anything = False

    @asynccontextmanager
    async def _exclusive(self) -> AsyncIterator[Connection]:
        """The connection, for one task at a time. A connection in an unknown state is closed: after a timeout or a
        cancellation, its last statement may still run."""
        async with self._turn:
            connection = await self._open()
            try:
                yield connection
            except BaseException as error:
                if breaks_connection(error):
                    connection.terminate()
                raise

    async def _open(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            connection = await self._connect()
            try:
                await connection.add_listener(CHANNEL, self._on_notification)
                await connection.execute(f"select pg_advisory_lock_shared({_LISTENER_LOCK})")
            except BaseException:
                connection.terminate()
                raise
            connection.add_termination_listener(self._on_disconnected)
            self._connection, self._holds_anything = connection, False
            self._hub.publish(UNKNOWN)  # A change before the subscription was not notified.
        return self._connection

    # -- notifications -------------------------------------------------------------------------------------------------

    def _on_notification(self, connection: Connection, sender: int, channel: str, payload: str) -> None:
        if sender == connection.get_server_pid():
            return
        if payload == _ANNOUNCEMENT:
            self._others = self._others_want_all = True
            self._checked = monotonic()
        elif payload == _ANYTHING:
            self._hub.publish(UNKNOWN)
        else:
            self._hub.publish(Change(topics=frozenset(filter(None, payload.split("\n"))), elsewhere=True))

    def _on_disconnected(self, connection: Connection) -> None:
        """Notifications may have been missed."""
        if not self._closed:
            self._hub.publish(UNKNOWN)

    async def _send(self) -> None:
        try:
            while self._pending:
                topics, self._topics, self._pending = self._topics, set(), False
                try:
                    async with self._exclusive() as connection:
                        await self._check(connection)
                        if self._others_want_all or (self._others and topics != set()):
                            await connection.execute("select pg_notify($1, $2)", CHANNEL, _payload(topics))
                except STORE_ERRORS as error:
                    _log.warning("cannot notify other nodes of a change, they will poll: %s", error)
                await asyncio.sleep(_NOTIFY_INTERVAL)
        finally:
            self._sender = None

    async def _check(self, connection: Connection) -> None:
        if monotonic() - self._checked > _CHECK_INTERVAL:
            self._checked = monotonic()
            locks = {row[0] for row in await connection.fetch(_OTHERS)}
            self._others, self._others_want_all = _LISTENER_LOCK in locks, _ANYTHING_LOCK in locks


def _payload(topics: set[str] | None) -> str:
    if topics is None:
        return _ANYTHING
    text = "\n".join(sorted(topics))
    return text if len(text.encode()) <= _PAYLOAD_MAX else _ANYTHING
