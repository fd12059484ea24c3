"""Connections to PostgreSQL: their settings, their errors in words, and how a script is run on one.

The only module that imports the driver. Two kinds of sessions: *lanes* send the same few statements with arrays, so
they plan once and always by index; *ordinary* ones ask questions of every shape, so they plan each anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import lru_cache
from time import monotonic
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

import asyncpg  # type: ignore[import-untyped]  # the driver brings no types; `Connection` below says what we use

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
"""A process that is frozen, or whose machine is gone, keeps its connection, and with it the rows of its claim. After so long
the server lets go of them for others; who wakes up then commits by guards, as after any broken connection."""
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
"""A hint that is lost with a crash is no loss."""

DATABASE_ERRORS: tuple[type[Exception], ...] = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
)
"""What the driver raises; never shown bare."""
STORE_ERRORS: tuple[type[Exception], ...] = (StoreError, *DATABASE_ERRORS)
_NO_CONNECTION: tuple[type[Exception], ...] = (ValueError, *DATABASE_ERRORS)

_APPLICATION_NAME = "holdfast"
_STATEMENT_CACHE = 256
_CONNECT_TIMEOUT = 10.0
"""Seconds to connect."""
_STARTUP_TIMEOUT = 60.0
"""Seconds that a server may take to start or to recover, once it says that it does."""
_STARTUP_POLL_INTERVAL = 0.1
REPLY_TIMEOUT = timedelta(seconds=60)
"""How long a statement may take, with its waiting for locks. A line that fell silent (a server that vanished, a proxy that
hangs) says nothing by itself: without a limit whoever asked would wait for ever."""


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
    """Waits for a server that says that it is starting. Raises what `explained` makes of the driver's errors. One that is not
    `limited` waits as long as a statement takes."""
    until = monotonic() + _STARTUP_TIMEOUT
    while True:
        try:
            return await _connect(url, settings, REPLY_TIMEOUT.total_seconds() if limited else None)
        except asyncpg.CannotConnectNowError as error:
            if monotonic() > until:
                raise explained(error, url) from error
        except _NO_CONNECTION as error:
            raise explained(error, url) from error
        await asyncio.sleep(_STARTUP_POLL_INTERVAL)


async def _connect(url: str, settings: dict[str, str], reply_timeout: float | None) -> Connection:
    connection: Connection = await asyncpg.connect(
        url,
        server_settings={"application_name": _APPLICATION_NAME, **settings},
        statement_cache_size=_STATEMENT_CACHE,
        max_cacheable_statement_size=0,
        max_cached_statement_lifetime=0,
        timeout=_CONNECT_TIMEOUT,
        command_timeout=reply_timeout,
    )
    return connection


def address(url: str) -> str:
    """The URL for people: without password."""
    parts = urlsplit(url)
    where = parts.hostname or "localhost"
    return f"{where}:{parts.port}{parts.path}" if parts.port else f"{where}{parts.path}"


def is_poison(error: BaseException) -> bool:
    """The statement's data are refused, whatever the others do: out of range, a key twice, a NUL in a text."""
    if isinstance(error, asyncpg.PostgresError):
        return str(error.sqlstate)[:2] in {"21", "22", "23", "54"}
    return isinstance(error, asyncpg.exceptions.DataError | UnicodeEncodeError | OverflowError)


def breaks_connection(error: BaseException) -> bool:
    """Whether it is not known what the connection is in the middle of."""
    return not isinstance(error, Exception) or (
        isinstance(error, DATABASE_ERRORS)
        and not isinstance(error, asyncpg.PostgresError | asyncpg.exceptions.DataError)
    )


def is_there_already(error: BaseException) -> bool:
    return isinstance(error, asyncpg.exceptions.UniqueViolationError)


def is_refused_guard(error: BaseException) -> bool:
    """How the commit statement takes everything back: see `statement.py`."""
    return isinstance(error, asyncpg.exceptions.DivisionByZeroError)


class PostgresTransient:
    """Deadlock, serialisation failure, lost connection, restart, failover."""

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
"""The last one: the server's last word has come in, and the driver has not seen yet that the connection is gone."""


def explained(error: BaseException, url: str) -> PersistenceError:
    """The error in words that name the remedy."""
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
                f"The user '{user}' may not do this at {where}: {error}. Let it use and create tables in its schema: "
                f'grant usage, create on schema public to "{user}"'
            )
        case kinds.UndefinedTableError() | kinds.UndefinedColumnError() | kinds.UndefinedObjectError():
            return SchemaMismatch(f"A table is missing at {where} ({error}). Run: holdfast migrate")
        case kinds.CharacterNotInRepertoireError() | kinds.UntranslatableCharacterError():
            return UnstorableText("\0", "text")
        case kinds.DiskFullError():
            return StoreUnavailable(f"The disk of PostgreSQL at {where} is full. Make room; nothing was written.")
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
    """`?` as this driver counts it: `$1`, `$2` …"""
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
