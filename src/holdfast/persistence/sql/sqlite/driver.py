"""Driver of one SQLite store: a writer thread, reader threads, and change notification across processes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from holdfast.model.changes import NO_TOPIC, Change
from holdfast.model.commit import Commit, CommitOutcome
from holdfast.model.upkeep import MigrationReport
from holdfast.persistence.change_hub import ChangeHub, OnChange
from holdfast.persistence.sql.script import Script
from holdfast.persistence.sql.sqlite.connection import connect, retry_while_busy
from holdfast.persistence.sql.sqlite.foreign_writes import ForeignWrites
from holdfast.persistence.sql.sqlite.migrate import check_schema, migrate
from holdfast.persistence.sql.sqlite.other_processes import OtherProcesses
from holdfast.persistence.sql.sqlite.reader import Reader, ReadJob
from holdfast.persistence.sql.sqlite.wake_sockets import WakeSockets
from holdfast.persistence.sql.sqlite.worker_thread import WorkerThread
from holdfast.persistence.sql.sqlite.writer import CommitJob, CommitScript, ScriptJob, WriteJob, Writer
from holdfast.persistence.store_state import forked, not_open

T = TypeVar("T")

POOLS = {"readers": 2}
"""Reader threads with a connection each, by default."""
SINGLE_CONNECTIONS = 2
"""The connections of the writer and of the listener."""
_READS_MAX = 64
_WRITES_MAX = 512
_WRITER_CACHE_KIB = 16 * 1024


class SqliteDriver:
    """Usable between `open` and `close`, in the process that opened it."""

    def __init__(self, path: Path, script: CommitScript, now: Callable[[], datetime], readers: int) -> None:
        self._path = path
        self._script = script
        self._now = now
        self._reader_count = readers
        self._process: int | None = None
        self._writer: WorkerThread[WriteJob] | None = None
        self._readers: list[WorkerThread[ReadJob]] = []
        self._turn = 0
        self._listener: sqlite3.Connection | None = None
        self._other_processes: OtherProcesses | None = None
        self._hub = ChangeHub()
        self._sockets: WakeSockets | None = None
        self._foreign: ForeignWrites | None = None

    def open(self, *, migrating: bool) -> None:
        """Connect, migrate and start the threads. Blocking."""
        if self._process is not None:
            self._check_open()
            return
        connection = connect(self._path, _WRITER_CACHE_KIB)
        try:
            if migrating:
                migrate(connection)
            check_schema(connection)
        except BaseException:
            connection.close()
            raise
        self._process = os.getpid()
        self._other_processes = OtherProcesses(connection, self._now)
        writer = Writer(connection, self._path, self._script, self._other_processes.any, self._committed)
        self._writer = WorkerThread("holdfast-writer", writer.work, writer.close, _WRITES_MAX)
        for number in range(self._reader_count):
            reader = Reader(connect(self._path), self._path)
            self._readers.append(WorkerThread(f"holdfast-reader-{number}", reader.work, reader.close, _READS_MAX))
        self._listener = connect(self._path)
        self._sockets = WakeSockets(self._path)
        self._foreign = ForeignWrites(self._hub, self._sockets, self._version)

    def close(self) -> None:
        """Finish all submitted jobs, stop the threads and close the connections. Blocking."""
        if self._process is None or self._process != os.getpid():
            return
        self._process = None
        for reader in self._readers:
            reader.stop()
        self._readers.clear()
        if self._writer is not None:
            self._writer.stop()
            self._writer = None
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        if self._sockets is not None:
            self._sockets.close()

    def migrate(self, *, check: bool) -> MigrationReport:
        with closing(connect(self._path)) as connection:
            return migrate(connection, check=check)

    async def read(self, script: Script[T]) -> T:
        self._check_open()
        job = ReadJob(script)
        self._turn = (self._turn + 1) % len(self._readers)
        self._readers[self._turn].submit(job)
        result: T = await job.future
        return result

    async def write(self, make: Callable[[], Script[T]], change: Change = NO_TOPIC) -> T:
        job = ScriptJob(make, change)
        self._open_writer().submit(job)
        result: T = await job.future
        return result

    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        job = CommitJob(batch)
        self._open_writer().submit(job)
        return await job.future

    def add_own_node(self, boot: int) -> None:
        """Remember a node that registered in this process."""
        if self._other_processes is not None:
            self._other_processes.own.add(boot)

    def subscribe(self, on_change: OnChange) -> Callable[[], None]:
        end = self._hub.subscribe(on_change)
        self._watched().start()
        return end

    async def wait_for_change(self, since: int, timeout: timedelta) -> int:
        self._check_open()
        if timeout > timedelta(0) and self._hub.number == since:
            self._watched().start()
        return await self._hub.wait(since, timeout)

    async def stop_watching(self) -> None:
        """Before `close`, on the event loop that waited for changes."""
        if self._foreign is not None:
            await self._foreign.stop()

    def _watched(self) -> ForeignWrites:
        self._check_open()
        if self._foreign is None:
            raise not_open()
        return self._foreign

    def _version(self) -> int:
        """A number that changes when another connection, of any process, has committed."""
        self._check_open()
        listener = self._listener
        if listener is None:
            raise not_open()
        rows = retry_while_busy(lambda: listener.execute("pragma data_version").fetchall())
        return int(rows[0][0])

    def _committed(self, change: Change) -> None:
        """Runs in the writer thread after each transaction."""
        if self._foreign is not None:
            self._foreign.own_commits += 1
        if self._sockets is not None:
            self._sockets.wake()
        self._hub.publish_from_thread(change)

    def _open_writer(self) -> WorkerThread[WriteJob]:
        self._check_open()
        if self._writer is None:
            raise not_open()
        return self._writer

    def _check_open(self) -> None:
        if self._process is None:
            raise not_open()
        if self._process != os.getpid():
            raise forked()
