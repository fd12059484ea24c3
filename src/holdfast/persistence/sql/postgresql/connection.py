"""Connections to PostgreSQL: settings, error messages, and the execution of scripts.

This is the only module that imports the driver. There are two kinds of sessions. *Lanes* send the same few statements with
arrays, so they use generic plans and always an index. *Ordinary* sessions send many different queries, so they use custom
plans.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import lru_cache
from time import monotonic
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

import asyncpg  # type: ignore[import-untyped]  # untyped driver; the protocol `Connection` lists the methods in use

from holdfast.errors import (
    PersistenceError,
    SchemaMismatch,
    StoreError,
    StoreMisconfigured,
    StoreUnavailable,
    UnstorableText,
)
from holdfast.persistence.retry import DEFAULT_TRANSIENT
from holdfast.persistence.sql.script import Rows, Script

T = TypeVar("T")

_IDLE_TIMEOUT = {"idle_in_transaction_session_timeout": "30s"}
"""A frozen process, or one whose machine is gone, keeps its connection open and its claimed rows locked. After this time the
server releases them. A process that wakes up later commits by its guards, as after any lost connection."""
LANE = {
    **_IDLE_TIMEOUT,
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_mergejoin": "off",
    "enable_bitmapscan": "off",
    "jit": "off",
}
ORDINARY = {**_IDLE_TIMEOUT, "plan_cache_mode": "force_custom_plan", "jit": "off"}
LISTENER = {"synchronous_commit": "off"}
"""A notification may be lost in a crash."""

DATABASE_ERRORS: tuple[type[Exception], ...] = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
)
"""Errors of the driver. `explained` translates them before they reach users."""
STORE_ERRORS: tuple[type[Exception], ...] = (StoreError, *DATABASE_ERRORS)
_CONNECT_ERRORS: tuple[type[Exception], ...] = (ValueError, *DATABASE_ERRORS)

_APPLICATION_NAME = "holdfast"
_STATEMENT_CACHE = 256
_CONNECT_TIMEOUT = 10.0
"""Seconds to connect."""
_STARTUP_TIMEOUT = 60.0
"""Seconds to wait for a server that reports that it is starting or recovering."""
_STARTUP_POLL_INTERVAL = 0.1
REPLY_TIMEOUT = timedelta(seconds=60)
"""Time that a statement may take, including waits for locks. A vanished server or a hanging proxy sends nothing, so without a
limit the caller would wait forever."""


class Connection(Protocol):
    async def fetch(self, query: str, *values: Any) -> Rows: ...
    async def execute(self, query: str, *values: Any) -> str: ...
    async def executemany(self, query: str, rows: Iterable[Sequence[Any]]) -> None: ...
    async def close(self, *, timeout: float | None = None) -> None: ...
    async def add_listener(self, channel: str, callback: Any) -> None: ...
    def add_termination_listener(self, callback: Any) -> None: ...
    def terminate(self) -> None: ...
    def is_closed(self) -> bool: ...
    def is_in_transaction(self) -> bool: ...
    def get_server_pid(self) -> int: ...
    def get_server_version(self) -> Any: ...


async def connect(url: str, settings: dict[str, str], *, limited: bool = True) -> Connection:
    """Open a connection. Waits for a server that is starting. Raises errors of `explained`. Statements of a connection that is
    not `limited` have no timeout."""
    until = monotonic() + _STARTUP_TIMEOUT
    while True:
        try:
            return await _connect(url, settings, REPLY_TIMEOUT.total_seconds() if limited else None)
        except asyncpg.CannotConnectNowError as error:
            if monotonic() > until:
                raise explained(error, url) from error
        except _CONNECT_ERRORS as error:
            raise explained(error, url) from error
        await asyncio.sleep(_STARTUP_POLL_INTERVAL)


async def _connect(url: str, settings: dict[str, str], reply_timeout: float | None) -> Connection:
    connection: Connection = await asyncpg.connect(
        url,
        server_settings={"application_name": _APPLICATION_NAME},
        statement_cache_size=_STATEMENT_CACHE,
        max_cacheable_statement_size=0,
        max_cached_statement_lifetime=0,
        timeout=_CONNECT_TIMEOUT,
        command_timeout=reply_timeout,
    )
    try:
        # Not as startup parameters: most poolers refuse those that they do not know.
        await connection.execute("; ".join(f"set {name} = '{value}'" for name, value in settings.items()))
    except BaseException:
        connection.terminate()
        raise
    return connection


async def refuse_shared_sessions(connection: Connection, url: str) -> None:
    """Raise if a pooler gives one session to several clients (PgBouncer with pool_mode = transaction or statement)."""
    pid = await _server_pid(connection)
    if pid == connection.get_server_pid():
        return  # No pooler.
    other = await connect(url, ORDINARY)
    try:
        shared = await _server_pid(other) == await _server_pid(connection)
    finally:
        other.terminate()
    if shared or pid != await _server_pid(connection):
        raise shared_session(url)


async def _server_pid(connection: Connection) -> int:
    """The process of the server, which differs from the one that a pooler reports."""
    pid: int = (await connection.fetch("select pg_backend_pid()"))[0][0]
    return pid


def shared_session(url: str) -> StoreMisconfigured:
    return StoreMisconfigured(
        f"The pooler at {address(url)} shares sessions between clients (PgBouncer: pool_mode = transaction). Holdfast needs "
        "its own sessions for prepared statements, locks and notifications. Set pool_mode = session for this database, or "
        "use the address of PostgreSQL itself: Holdfast keeps few connections and reuses them."
    )


def address(url: str) -> str:
    """The URL without the password. It may name several hosts."""
    parts = urlsplit(url)
    return f"{parts.netloc.rpartition('@')[2] or 'localhost'}{parts.path}"


def is_poison(error: BaseException) -> bool:
    """Whether the data of the statement are invalid: out of range, a duplicate key, a NUL in a text."""
    if isinstance(error, asyncpg.PostgresError):
        return str(error.sqlstate)[:2] in {"21", "22", "23", "54"}
    return isinstance(error, asyncpg.exceptions.DataError | UnicodeEncodeError | OverflowError)


def breaks_connection(error: BaseException) -> bool:
    """Whether the error leaves the connection in an unknown state."""
    return not isinstance(error, Exception) or (
        isinstance(error, DATABASE_ERRORS)
        and not isinstance(error, asyncpg.PostgresError | asyncpg.exceptions.DataError)
    )


def is_there_already(error: BaseException) -> bool:
    return isinstance(error, asyncpg.exceptions.UniqueViolationError)


def is_refused_guard(error: BaseException) -> bool:
    """Whether the commit statement undid itself because a guard did not hold (see `statement.py`)."""
    return isinstance(error, asyncpg.exceptions.DivisionByZeroError)


class PostgresTransient:
    """Deadlock, serialization failure, lost connection, restart, failover."""

    def is_transient(self, error: BaseException) -> bool:
        if isinstance(error, _TRANSIENT) or DEFAULT_TRANSIENT.is_transient(error):
            return True
        return (
            isinstance(error, asyncpg.InterfaceError)
            and not isinstance(error, asyncpg.exceptions.DataError)
            and "clos" in str(error)
        )


_TRANSIENT = (
    asyncpg.exceptions.DeadlockDetectedError,
    asyncpg.exceptions.SerializationError,
    asyncpg.exceptions.PostgresConnectionError,
    asyncpg.exceptions.OperatorInterventionError,
    asyncpg.exceptions.TooManyConnectionsError,
    asyncpg.exceptions.OutOfMemoryError,
    asyncpg.exceptions.ConfigurationLimitExceededError,
    asyncpg.exceptions.PostgresSystemError,
    asyncpg.exceptions.ReadOnlySQLTransactionError,
    asyncpg.exceptions.LockNotAvailableError,
    asyncpg.InternalClientError,
)
"""`InternalClientError`: the server closed the connection, and the driver has not noticed yet."""


def read_only(error: BaseException, url: str) -> str | None:
    """The message for a server that refuses writes; None for another error."""
    if not isinstance(error, asyncpg.exceptions.ReadOnlySQLTransactionError):
        return None
    return (
        f"PostgreSQL at {address(url)} is read-only ({error}); nothing was written. It is a standby, or "
        "default_transaction_read_only is on. Use the address of the primary, or name all servers: "
        "postgresql://host1,host2/database?target_session_attrs=read-write"
    )


def explained(error: BaseException, url: str) -> PersistenceError:
    """A store error whose message names the remedy."""
    where, user = address(url), unquote(urlsplit(url).username or "")
    kinds = asyncpg.exceptions
    match error:
        case kinds.InvalidPasswordError() | kinds.InvalidAuthorizationSpecificationError():
            return StoreMisconfigured(
                f"PostgreSQL at {where} refuses the user '{user}'. Check name and password, and pg_hba.conf."
            )
        case kinds.InvalidCatalogNameError():
            name = urlsplit(url).path.strip("/") or user
            return StoreMisconfigured(f"PostgreSQL at {where} has no database '{name}'. Create it: createdb {name}")
        case kinds.InsufficientPrivilegeError() | kinds.InvalidSchemaNameError():
            return StoreMisconfigured(
                f"The user '{user}' lacks a privilege at {where}: {error}. Let it use and create tables in its schema: "
                f'grant usage, create on schema public to "{user}"'
            )
        case kinds.UndefinedTableError() | kinds.UndefinedColumnError() | kinds.UndefinedObjectError():
            return SchemaMismatch(f"A table is missing at {where} ({error}). Run: holdfast migrate")
        case kinds.CharacterNotInRepertoireError() | kinds.UntranslatableCharacterError():
            return UnstorableText("\0", "text")
        case kinds.DiskFullError():
            return StoreUnavailable(f"The disk of PostgreSQL at {where} is full. Free some space; nothing was written.")
        case kinds.ReadOnlySQLTransactionError():
            return StoreUnavailable(str(read_only(error, url)))
        case kinds.InvalidSQLStatementNameError() | kinds.DuplicatePreparedStatementError():
            return shared_session(url)
        case kinds.TooManyConnectionsError():
            return StoreUnavailable(
                f"PostgreSQL at {where} has no connection left. Raise max_connections or stop idle clients."
            )
        case kinds.ClientConfigurationError() | ValueError():
            return StoreMisconfigured(
                f"The address of PostgreSQL cannot be used: {error}. Write postgresql://user@host/database"
            )
        case kinds.InterfaceError() | asyncpg.InternalClientError() | OSError():
            return StoreUnavailable(
                f"PostgreSQL at {where} does not answer ({type(error).__name__}: {error}). "
                "Check that it runs and can be reached."
            )
        case _:
            if PostgresTransient().is_transient(error):
                return StoreUnavailable(f"PostgreSQL at {where} does not answer ({error}). Check that it runs.")
            return StoreError(f"PostgreSQL at {where} refused a statement: {error}. This is a bug: please report it.")


@lru_cache(maxsize=2048)
def numbered(sql: str) -> str:
    """Replace `?` by the placeholders of this driver: `$1`, `$2` …"""
    first, *rest = sql.split("?")
    return first + "".join(f"${number}{part}" for number, part in enumerate(rest, 1))


async def run(connection: Connection, script: Script[T]) -> T:
    """Send a script's statements to the connection until it returns."""
    rows: Rows
    try:
        statement = next(script)
        while True:
            if statement.many:
                await connection.executemany(numbered(statement.sql), statement.values)
                rows = ()
            else:
                rows = await connection.fetch(numbered(statement.sql), *statement.values)
            statement = script.send(rows)
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        script.close()
