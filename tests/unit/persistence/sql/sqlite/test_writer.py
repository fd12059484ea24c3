"""The writer of SQLite: one transaction for all jobs, with a savepoint for each group and script."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.model.changes import Change
from holdfast.model.commit import COMMITTED, Commit, CommitOutcome, Failed
from holdfast.persistence.sql.script import Script, execute
from holdfast.persistence.sql.sqlite.connection import connect
from holdfast.persistence.sql.sqlite.writer import CommitJob, ScriptJob, Writer
from holdfast.testing.store_rows import commit_of, instance


class Recorded:
    """A writer on a table of ids, and the batches that it was given."""

    def __init__(self, path: Path) -> None:
        self.connection = connect(path)
        self.connection.execute("create table stored (id text primary key)")
        self.batches: list[list[str]] = []
        self.commits = 0
        self.writer = Writer(self.connection, path, self.script, lambda: False, self.committed)

    def committed(self, change: Change) -> None:
        self.commits += 1
        self.change = change

    def script(self, batch: Sequence[Commit]) -> Script[list[CommitOutcome]]:
        ids = [commit.instance.id for commit in batch if commit.instance is not None]
        self.batches.append(ids)
        for name in ids:
            yield execute("insert into stored values (?)", name)
        return [COMMITTED] * len(batch)

    @property
    def stored(self) -> list[str]:
        return [row[0] for row in self.connection.execute("select id from stored order by id")]


def insert(name: str) -> Script[str]:
    yield execute("insert into stored values (?)", name)
    return name


def jobs_of(*names: str) -> list[CommitJob]:
    return [CommitJob([commit_of(instance(name))]) for name in names]


@pytest.fixture
def recorded(database: Path) -> Iterator[Recorded]:
    recorded = Recorded(database)
    with closing(recorded.connection):
        yield recorded


async def test_batches_of_several_callers_are_one_group_in_one_transaction(recorded: Recorded) -> None:
    jobs = jobs_of("a", "b")
    recorded.writer.work([*jobs])

    assert recorded.batches == [["a", "b"]]
    assert [job.result for job in jobs] == [[COMMITTED], [COMMITTED]]
    assert (recorded.stored, recorded.commits) == (["a", "b"], 1)


async def test_an_invalid_commit_fails_alone(recorded: Recorded) -> None:
    recorded.connection.execute("insert into stored values ('b')")
    jobs = jobs_of("a", "b", "c", "d")
    recorded.writer.work([*jobs])

    assert [job.result == [COMMITTED] for job in jobs] == [True, False, True, True]
    assert jobs[1].result is not None
    assert isinstance(jobs[1].result[0], Failed)
    assert recorded.stored == ["a", "b", "c", "d"]


async def test_a_failing_script_is_rolled_back_alone(recorded: Recorded) -> None:
    def broken() -> Script[None]:
        yield execute("insert into stored values ('x')")
        raise LookupError("x")

    good, bad, commits = ScriptJob(lambda: insert("s")), ScriptJob(broken), jobs_of("a")
    recorded.writer.work([bad, good, *commits])

    assert isinstance(bad.error, LookupError)
    assert (good.result, commits[0].result) == ("s", [COMMITTED])
    assert recorded.stored == ["a", "s"]


async def test_an_error_of_the_file_fails_all_jobs(recorded: Recorded) -> None:
    def full() -> Script[None]:
        error = sqlite3.OperationalError("disk full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        yield execute("insert into stored values ('x')")
        raise error

    with pytest.raises(StoreUnavailable, match="full"):
        recorded.writer.work([*jobs_of("a"), ScriptJob(full)])
    assert (recorded.stored, recorded.commits) == ([], 0)


async def test_a_replaced_file_is_refused(recorded: Recorded, database: Path) -> None:
    database.rename(database.with_suffix(".old"))
    database.touch()

    with pytest.raises(StoreUnavailable, match="deleted, moved or replaced"):
        recorded.writer.work([*jobs_of("a")])
