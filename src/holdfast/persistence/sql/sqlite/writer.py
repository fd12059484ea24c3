"""The one writer of a process: group commit. What queued up during one transaction is the next transaction.

Commits of many callers are judged and written as one batch, as long as no instance is named twice. A script or a batch
that fails is undone by its savepoint and does not take the others along.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from os.path import samestat
from pathlib import Path
from typing import Any, TypeVar

from holdfast.errors import StoreUnavailable
from holdfast.model.commit import Commit, CommitOutcome, Failed
from holdfast.model.stored import InstanceKey
from holdfast.persistence import faultpoints
from holdfast.persistence.sql.script import Script
from holdfast.persistence.sql.sqlite.connection import explained, is_broken, patiently, run
from holdfast.persistence.sql.sqlite.threads import Job

BATCH_MAX = 128
BATCH_BYTES_MAX = 4_000_000
_POLITENESS = 0.001
"""How long the writer leaves the file to other processes after a commit, if there are any."""

T = TypeVar("T")

CommitScript = Callable[[Sequence[Commit]], Script[list[CommitOutcome]]]


class ScriptJob(Job[Any]):
    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Script[Any]]) -> None:
        super().__init__()
        self.make = make


class CommitJob(Job[list[CommitOutcome]]):
    __slots__ = ("batch", "keys", "size")

    def __init__(self, batch: Sequence[Commit]) -> None:
        super().__init__()
        self.batch = batch
        rows = [commit.instance for commit in batch if commit.instance is not None]
        self.keys = {InstanceKey(row.tenant, row.id) for row in rows}
        self.size = sum(len(row.state) for row in rows)


WriteJob = ScriptJob | CommitJob


class Writer:
    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        script: CommitScript,
        others: Callable[[], bool],
        committed: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._path = path
        self._place = path.absolute()
        self._file = self._place.stat()
        self._script = script
        self._others = others
        self._committed = committed

    def work(self, jobs: list[WriteJob]) -> None:
        """One transaction for all of them. If the file fails it, all of them fail."""
        self._check_file()
        try:
            patiently(lambda: self._connection.execute("begin immediate"))
            for group in grouped_commits([job for job in jobs if isinstance(job, CommitJob)]):
                self._commit(group)
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
        self._committed()
        faultpoints.reached("commit.done")
        if self._others():
            time.sleep(_POLITENESS)

    def _check_file(self) -> None:
        """A file that was deleted, or put another in its place, can still be written to: nobody would ever read it."""
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
            job.result = self._undoable(job.make)
        except Exception as error:
            if is_broken(error):
                raise
            job.error = explained(error, self._path) if isinstance(error, sqlite3.Error) else error

    def _commit(self, jobs: Sequence[CommitJob]) -> None:
        outcomes = self._bisected([commit for job in jobs for commit in job.batch])
        for job in jobs:
            job.result, outcomes = outcomes[: len(job.batch)], outcomes[len(job.batch) :]

    def _bisected(self, batch: Sequence[Commit]) -> list[CommitOutcome]:
        """All at once; if the database refuses, each half by itself, until the poison stands alone."""
        try:
            return self._undoable(lambda: self._script(batch))
        except Exception as error:
            if is_broken(error) or isinstance(error, ConnectionError):
                raise
            if len(batch) == 1:
                return [Failed(error)]
        middle = len(batch) // 2
        return self._bisected(batch[:middle]) + self._bisected(batch[middle:])

    def _undoable(self, make: Callable[[], Script[T]]) -> T:
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


def grouped_commits(jobs: Sequence[CommitJob]) -> Iterator[list[CommitJob]]:
    """Batches of several callers together, up to the limits; none names an instance twice."""
    waiting = list(jobs)
    while waiting:
        group: list[CommitJob] = []
        left: list[CommitJob] = []
        keys: set[InstanceKey] = set()
        count = size = 0
        for job in waiting:
            fits = count + len(job.batch) <= BATCH_MAX and size + job.size <= BATCH_BYTES_MAX
            if group and (not fits or keys & job.keys):
                left.append(job)
                continue
            group.append(job)
            keys |= job.keys
            count += len(job.batch)
            size += job.size
        yield group
        waiting = left
