"""Reader of a SQLite file: each script runs in one snapshot and never writes."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from holdfast.persistence.sql.script import Script
from holdfast.persistence.sql.sqlite.connection import explained, retry_while_busy, run
from holdfast.persistence.sql.sqlite.worker_thread import Job


class ReadJob(Job[Any]):
    __slots__ = ("script",)

    def __init__(self, script: Script[Any]) -> None:
        super().__init__()
        self.script = script


class Reader:
    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def work(self, jobs: list[ReadJob]) -> None:
        for job in jobs:
            try:
                job.result = self._read(job.script)
            except sqlite3.Error as error:
                job.error = explained(error, self._path)
            except Exception as error:  # noqa: BLE001 - raised in the task of the caller
                job.error = error

    def close(self) -> None:
        self._connection.close()

    def _read(self, script: Script[Any]) -> Any:
        def begin() -> None:
            self._connection.execute("begin")
            try:
                self._connection.execute("select 1 from hf_counter").fetchone()  # The first read takes the snapshot.
            except BaseException:
                self._connection.execute("rollback")
                raise

        retry_while_busy(begin)
        try:
            return run(self._connection, script)
        finally:
            self._connection.execute("rollback")
