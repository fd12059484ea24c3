"""The SQLite store: threads, their connections, and the parts that all SQL stores share.

The store belongs to the process that opened it. A forked child that used its connections would damage the file, so it
is refused; it opens a store of its own.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from holdfast.errors import StoreClosed
from holdfast.model.commit import Commit, CommitOutcome, check_batch
from holdfast.model.upkeep import MigrationReport
from holdfast.model.work import WorkRow
from holdfast.persistence import faultpoints
from holdfast.persistence.codec import PayloadCodec
from holdfast.persistence.retry import DEFAULT_POLICY, DEFAULT_TRANSIENT, RetryPolicy, TransientTypes, retrying
from holdfast.persistence.sql.commits import commit_script
from holdfast.persistence.sql.definitions import SqlDefinitions
from holdfast.persistence.sql.dialect import Dialect
from holdfast.persistence.sql.effects import SqlEffects
from holdfast.persistence.sql.mail import SqlMail
from holdfast.persistence.sql.nodes import SqlNodes
from holdfast.persistence.sql.part import system_now
from holdfast.persistence.sql.reads import SqlReads
from holdfast.persistence.sql.script import Script
from holdfast.persistence.sql.search import SqlSearch
from holdfast.persistence.sql.sqlite.claim import OptimisticClaim
from holdfast.persistence.sql.sqlite.connection import connect
from holdfast.persistence.sql.sqlite.migrating import check_schema, migrate
from holdfast.persistence.sql.sqlite.neighbours import Neighbours
from holdfast.persistence.sql.sqlite.readers import Reader, ReadJob
from holdfast.persistence.sql.sqlite.threads import WorkerThread
from holdfast.persistence.sql.sqlite.writer import CommitJob, ScriptJob, WriteJob, Writer
from holdfast.persistence.sql.transfer import SqlTransfer
from holdfast.persistence.sql.upkeep import SqlUpkeep
from holdfast.persistence.sql.work import SqlWork
from holdfast.ports import Codec, TransientErrors

T = TypeVar("T")

SQLITE = Dialect(name="sqlite")
READERS = 2
_LISTEN = 0.02
"""How often somebody who waits looks whether another process has written."""


class SqliteStore(
    SqlDefinitions, SqlWork, SqlReads, SqlEffects, SqlMail, SqlNodes, SqlSearch, SqlUpkeep, SqlTransfer
):
    name = "sqlite"

    def __init__(
        self,
        path: Path,
        *,
        codec: Codec | None = None,
        now: Callable[[], datetime] = system_now,
        retry: RetryPolicy = DEFAULT_POLICY,
        transient: TransientErrors | None = None,
    ) -> None:
        super().__init__(SQLITE, codec or PayloadCodec(), now)
        self.path = path
        self.transient: TransientErrors = DEFAULT_TRANSIENT if transient is None else (
            TransientTypes(others=(DEFAULT_TRANSIENT, transient))
        )
        self._retry = retry
        self._owner: int | None = None
        self._writer: WorkerThread[Any] | None = None
        self._readers: WorkerThread[Any] | None = None
        self._listener: sqlite3.Connection | None = None
        self._claimed: set[tuple[str, str]] = set()
        self._bell = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._commits = 0
