"""Writer of a SQLite file, one per process: group commit in a thread. All jobs that waited share the next transaction.

Batches of several callers are checked and written as one group (`commit_grouping.py`). Each group and each script has a
savepoint, so an error rolls back only its own changes.
"""

from __future__ import annotations

import sqlite3
import time
from collections import deque
from collections.abc import Callable, Sequence
from os.path import samestat
from pathlib import Path
from typing import Any, TypeVar

from holdfast.errors import StoreUnavailable
from holdfast.model.changes import NO_TOPIC, Change, merged, of_commits
from holdfast.model.commit import Commit, CommitOutcome, Failed
from holdfast.persistence import faultpoints
from holdfast.persistence.sql.commit_grouping import DISJOINT_INSTANCES, commits_of, split
from holdfast.persistence.sql.script import Script
from holdfast.persistence.sql.sqlite.connection import explained, is_broken, retry_while_busy, run
from holdfast.persistence.sql.sqlite.worker_thread import Job

_YIELD_TIME = 0.001
"""Seconds for which the writer leaves the file to other processes after a commit."""

T = TypeVar("T")

CommitScript = Callable[[Sequence[Commit]], Script[list[CommitOutcome]]]


class ScriptJob(Job[Any]):
    __slots__ = ("change", "make")

    def __init__(self, make: Callable[[], Script[Any]], change: Change = NO_TOPIC) -> None:
        super().__init__()
        self.make = make
        self.change = change


class CommitJob(Job[Sequence[CommitOutcome]]):
    __slots__ = ("batch", "size", "versions")

    def __init__(self, batch: Sequence[Commit]) -> None:
        super().__init__()
        self.batch = batch
        self.versions, self.size = DISJOINT_INSTANCES.measure(batch)


WriteJob = ScriptJob | CommitJob


class Writer:
    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        script: CommitScript,
        has_other_processes: Callable[[], bool],
        on_commit: Callable[[Change], None],
    ) -> None:
        self._connection = connection
        self._path = path
        self._place = path.absolute()
        self._file = self._place.stat()
        self._script = script
        self._has_other_processes = has_other_processes
        self._on_commit = on_commit

    def work(self, jobs: list[WriteJob]) -> None:
        """Run all jobs in one transaction. An error of the file fails all of them."""
        self._check_file()
        try:
            retry_while_busy(lambda: self._connection.execute("begin immediate"))
            commits = deque(job for job in jobs if isinstance(job, CommitJob))
            while commits:
                self._commit(DISJOINT_INSTANCES.next_group(commits))
            for job in jobs:
                if isinstance(job, ScriptJob):
                    self._run(job)
            self._connection.execute("commit")
        except BaseException as error:
            if self._connection.in_transaction:
                self._connection.execute("rollback")
            if isinstance(error, sqlite3.Error):
                raise explained(error, self._path) from error
            raise
        self._on_commit(_change_of(jobs))
        faultpoints.reached("commit.done")
        if self._has_other_processes():
            time.sleep(_YIELD_TIME)

    def _check_file(self) -> None:
        """Refuse a file that was deleted or replaced: SQLite would still write to it, and the data would be lost."""
        try:
            if samestat(self._file, self._place.stat()):
                return
        except OSError:
            pass
        raise StoreUnavailable(
            f"'{self._path}' was deleted, moved or replaced while it was in use. Put it back, or stop the processes that have "
            "it open; nothing is written until then."
        )

    def close(self) -> None:
        self._connection.close()

    def _run(self, job: ScriptJob) -> None:
        try:
            job.result = self._in_savepoint(job.make)
        except Exception as error:
            if is_broken(error):
                raise
            job.error = explained(error, self._path) if isinstance(error, sqlite3.Error) else error

    def _commit(self, jobs: Sequence[CommitJob]) -> None:
        for job, outcomes in split(jobs, self._bisected(commits_of(jobs))):
            job.result = outcomes

    def _bisected(self, batch: Sequence[Commit]) -> list[CommitOutcome]:
        """Write a batch at once. If SQLite refuses it, bisect until the refused commit is alone."""
        try:
            return self._in_savepoint(lambda: self._script(batch))
        except Exception as error:
            if is_broken(error) or isinstance(error, ConnectionError):
                raise
            if len(batch) == 1:
                return [Failed(error)]
        middle = len(batch) // 2
        return self._bisected(batch[:middle]) + self._bisected(batch[middle:])

    def _in_savepoint(self, make: Callable[[], Script[T]]) -> T:
        self._connection.execute("savepoint part")
        try:
            result = run(self._connection, make())
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("rollback to part")
                self._connection.execute("release part")
            raise
        self._connection.execute("release part")
        return result


def _change_of(jobs: Sequence[WriteJob]) -> Change:
    return merged(job.change if isinstance(job, ScriptJob) else of_commits(job.batch) for job in jobs)
