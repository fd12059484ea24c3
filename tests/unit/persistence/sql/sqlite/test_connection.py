"""Connections to a SQLite file: the busy timeout, and errors that name the remedy."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.errors import StoreError, StoreMisconfigured, StoreUnavailable
from holdfast.persistence.sql.script import Script, execute, execute_many
from holdfast.persistence.sql.sqlite.connection import connect, explained, is_broken, is_busy, retry_while_busy, run


def error_of(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("some words of SQLite")
    error.sqlite_errorcode = code
    return error


def test_a_busy_file_is_retried() -> None:
    errors = [error_of(sqlite3.SQLITE_BUSY), error_of(sqlite3.SQLITE_LOCKED)]

    def action() -> str:
        if errors:
            raise errors.pop()
        return "done"

    assert retry_while_busy(action) == "done"


def test_other_errors_are_not_retried() -> None:
    def action() -> None:
        raise error_of(sqlite3.SQLITE_FULL)

    with pytest.raises(sqlite3.OperationalError):
        retry_while_busy(action)


def test_busy_and_broken_files() -> None:
    assert is_busy(error_of(sqlite3.SQLITE_BUSY))
    assert not is_busy(ValueError())
    assert is_broken(error_of(sqlite3.SQLITE_IOERR_WRITE))
    assert not is_broken(error_of(sqlite3.SQLITE_ERROR))


def test_a_script_runs_on_a_connection(database: Path) -> None:
    def script() -> Script[list[int]]:
        yield execute("create table t (n integer)")
        yield execute_many("insert into t values (?)", [(1,), (2,)])
        rows = yield execute("select n from t where n > ? order by n", 1)
        return [row[0] for row in rows]

    with closing(connect(database)) as connection:
        assert run(connection, script()) == [2]


def test_the_busy_timeout_ends_without_the_word_locked(database: Path) -> None:
    with (
        closing(sqlite3.connect(database, isolation_level=None)) as one,
        closing(sqlite3.connect(database, isolation_level=None, timeout=0)) as two,
    ):
        one.execute("begin exclusive")
        with pytest.raises(StoreUnavailable) as caught:
            retry_while_busy(lambda: two.execute("begin immediate"), timedelta(milliseconds=5))

    assert "locked" not in str(caught.value)
    assert "try again" in str(caught.value)


@pytest.mark.parametrize(
    ("code", "kind", "remedy"),
    [
        (sqlite3.SQLITE_READONLY, StoreMisconfigured, "Give this user write access"),
        (sqlite3.SQLITE_CANTOPEN, StoreMisconfigured, "folder exists"),
        (sqlite3.SQLITE_CORRUPT, StoreMisconfigured, "restore a backup"),
        (sqlite3.SQLITE_FULL, StoreUnavailable, "Free some space"),
        (sqlite3.SQLITE_IOERR_WRITE, StoreUnavailable, "Check its disk"),
        (sqlite3.SQLITE_ERROR, StoreError, "please report it"),
    ],
)
def test_errors_of_the_file_name_the_remedy(code: int, kind: type[StoreError], remedy: str) -> None:
    error = sqlite3.OperationalError("some words of SQLite")
    error.sqlite_errorcode = code

    told = explained(error, Path("holdfast.db"))

    assert type(told) is kind
    assert remedy in str(told)
