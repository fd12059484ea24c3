"""Connections to a SQLite file: settings, error messages, and the execution of scripts.

Rule M15: the busy timeout is 0 and Holdfast retries itself, because SQLite's back-off lets one process starve the others.
Every write begins with BEGIN IMMEDIATE, because a read transaction that becomes a write fails at once, whatever the timeout.
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from holdfast.errors import StoreError, StoreMisconfigured, StoreUnavailable
from holdfast.persistence.sql.script import Rows, Script

T = TypeVar("T")

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_BROKEN = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOTADB,
}
"""Errors of the file or the machine, not of the statement."""

_WAL_SIZE_MAX = 64 * 1024 * 1024
"""Bytes to which the WAL file is truncated after a checkpoint."""

BUSY_TIMEOUT = timedelta(seconds=60)


def code_of(error: sqlite3.Error) -> int:
    """The primary result code."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def is_busy(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and code_of(error) in _BUSY


def is_broken(error: BaseException) -> bool:
    """Whether the whole transaction must fail, not only the statement."""
    return isinstance(error, sqlite3.Error) and code_of(error) in _BROKEN


def retry_while_busy(action: Callable[[], T], timeout: timedelta = BUSY_TIMEOUT) -> T:
    """Retry every 0.5 to 2 ms while another process writes. Callers never see "database is locked"."""
    until = time.monotonic() + timeout.total_seconds()
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            if time.monotonic() > until:
                raise StoreUnavailable(
                    f"Other processes have kept the file busy for {timeout.total_seconds():.0f} seconds. Stop the process "
                    "that holds it (a backup, a shell with an open transaction), then try again."
                ) from error
        time.sleep(random.uniform(0.0005, 0.002))


def connect(path: Path, cache_kib: int = 8 * 1024) -> sqlite3.Connection:
    """Open a connection. Any thread may use it, but only one at a time."""
    try:
        connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        retry_while_busy(lambda: connection.execute("pragma journal_mode = wal").fetchall())
        connection.execute("pragma synchronous = full")
        connection.execute("pragma temp_store = memory")
        connection.execute(f"pragma journal_size_limit = {_WAL_SIZE_MAX}")
        connection.execute(f"pragma cache_size = -{cache_kib}")
    except sqlite3.Error as error:
        raise explained(error, path) from error
    return connection


def explained(error: sqlite3.Error, path: Path) -> StoreError:
    """A store error whose message names the remedy."""
    match code_of(error):
        case sqlite3.SQLITE_CANTOPEN:
            return StoreMisconfigured(f"'{path}' cannot be opened. Check that its folder exists and may be written to.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return StoreMisconfigured(
                f"'{path}' is not writable. Give this user write access to the file and its folder."
            )
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return StoreMisconfigured(f"'{path}' is not a valid SQLite database. Use another file or restore a backup.")
        case sqlite3.SQLITE_FULL:
            return StoreUnavailable(f"The disk of '{path}' is full. Free some space; nothing was written.")
        case sqlite3.SQLITE_IOERR:
            return StoreUnavailable(f"Reading or writing '{path}' failed. Check its disk.")
        case _:
            return StoreError(f"SQLite refused a statement on '{path}': {error}. This is a bug: please report it.")


def run(connection: sqlite3.Connection, script: Script[T]) -> T:
    """Send a script's statements to the connection until it returns."""
    rows: Rows
    try:
        statement = next(script)
        while True:
            if statement.many:
                connection.executemany(statement.sql, statement.values)
                rows = ()
            else:
                rows = connection.execute(statement.sql, statement.values).fetchall()
            statement = script.send(rows)
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        script.close()
