"""Baselines without an engine, in the same schema, with the same driver and rows of the same size.

- *Per step*: eleven commits of one statement each: one that starts the instance and one after each of ten steps. Each
  rewrites the instance's row and adds one journal row. On PostgreSQL as many instances are in flight as for Holdfast and
  share 24 connections step by step, longest wait first. On SQLite, which has one writer, a single thread runs them.
- *Floor*: batches of 512 finished instances with two rows each, from prepared arrays.
- *Insert*: one small row, one commit.
"""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.store_databases import Database
from holdfast.model.stored import InstanceRow
from holdfast.persistence.codec import codec_of_keys
from holdfast.persistence.sql.instance_tables import INSTANCE, JOURNAL, StoredSegment
from holdfast.persistence.sql.postgresql.statement import type_of
from holdfast.persistence.sql.sqlite.connection import connect
from holdfast.persistence.sql.tables import Table
from holdfast.ports import Store

STEPS = 10
BATCH = 512
CONNECTIONS = 24
SMALL = b"x" * 200

INSERT_TABLE = "create table if not exists bench_insert (id integer primary key, data {bytes} not null)"
_CODEC = codec_of_keys("")
_STEP = (
    "update hf_instance set version = {0}, burst_id = {1}, updated = {2}, state = {3}"
    " where tenant = {4} and id = {5} and version = {0} - 1"
)
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Sizes:
    """Stored rows of a Holdfast instance, which the baselines write under other ids."""

    instance: tuple[Any, ...]
    journal: tuple[Any, ...]

    @property
    def state(self) -> bytes:
        found: bytes = self.instance[INSTANCE.names.index("state")]
        return found

    @property
    def entry(self) -> bytes:
        """Journal of one step."""
        whole: bytes = self.journal[JOURNAL.names.index("data")]
        return whole[: max(1, len(whole) // STEPS)]


async def sizes_of(store: Store, row: InstanceRow) -> Sizes:
    (segment,) = await store.read_journal(row.tenant, row.id)
    return Sizes(INSTANCE.encode(row, _CODEC), JOURNAL.encode(StoredSegment(row.tenant, row.id, segment), _CODEC))


def new_id() -> str:
    """Thirteen characters and increasing, like the ids of Holdfast."""
    return f"BENCH{next(_numbers):08d}"


def renamed(table: Table[Any], row: Sequence[Any], **changes: Any) -> tuple[Any, ...]:
    return tuple(changes.get(name, value) for name, value in zip(table.names, row, strict=True))


# -- PostgreSQL --------------------------------------------------------------------------------------------------------


def _values(table: Table[Any], first: int = 1) -> str:
    return ", ".join(f"${place}::{type_of(name)}" for place, name in enumerate(table.names, first))


class PostgresSteps:
    """One statement per step, on any free connection."""

    def __init__(self, connections: Sequence[Any], sizes: Sizes) -> None:
        self._free: asyncio.Queue[Any] = asyncio.Queue()
        for connection in connections:
            self._free.put_nowait(connection)
        self._sizes = sizes
        journal = f"insert into hf_journal ({JOURNAL.columns})"
        self._first = (
            f"with made as (insert into hf_instance ({INSTANCE.columns}) values ({_values(INSTANCE)}) returning 1)"
            f" {journal} select {_values(JOURNAL, len(INSTANCE.names) + 1)} from made"
        )
        step = _STEP.format("$1::integer", "$2::text", "$3::bigint", "$4::bytea", "$5::text", "$6::text")
        self._next = f"with moved as ({step} returning 1) {journal} select {_values(JOURNAL, 7)} from moved"

    async def __call__(self, which: int) -> None:
        sizes, identity = self._sizes, new_id()
        state, entry = sizes.state, sizes.entry
        journal = renamed(JOURNAL, sizes.journal, instance_id=identity, data=entry)
        await self._commit(self._first, *renamed(INSTANCE, sizes.instance, id=identity), *journal)
        for version in range(2, STEPS + 2):
            entry_row = renamed(JOURNAL, journal, version=version)
            await self._commit(self._next, version, identity, version, state, "", identity, *entry_row)

    async def _commit(self, statement: str, *values: Any) -> None:
        connection = await self._free.get()
        try:
            await connection.execute(statement, *values)
        finally:
            self._free.put_nowait(connection)


class PostgresFloor:
    """Both rows of `BATCH` instances in one statement, on one connection."""

    def __init__(self, connection: Any, sizes: Sizes) -> None:
        self._connection = connection
        self._columns = [[value] * BATCH for value in (*sizes.instance, *sizes.journal)]
        names = len(INSTANCE.names)
        self._ids = INSTANCE.names.index("id"), names + JOURNAL.names.index("instance_id")
        self._statement = (
            f"with made as (insert into hf_instance ({INSTANCE.columns}) select * from unnest({_arrays(INSTANCE)}))"
            f" insert into hf_journal ({JOURNAL.columns}) select * from unnest({_arrays(JOURNAL, names + 1)})"
        )

    async def __call__(self, which: int) -> None:
        columns = self._columns
        ids = [new_id() for _ in range(BATCH)]
        for place in self._ids:
            columns[place] = ids
        await self._connection.execute(self._statement, *columns)


def _arrays(table: Table[Any], first: int = 1) -> str:
    return ", ".join(f"${place}::{type_of(name)}[]" for place, name in enumerate(table.names, first))


class PostgresInsert:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def open(self) -> None:
        await self._connection.execute(INSERT_TABLE.format(bytes="bytea"))

    async def timed(self) -> float:
        begin = time.perf_counter()
        await self._connection.execute("insert into bench_insert values ($1, $2)", next(_numbers), SMALL)
        return time.perf_counter() - begin


# -- SQLite ------------------------------------------------------------------------------------------------------------


class SqliteBaselines:
    """The same on one connection with the store's settings; each method returns the number of completed units."""

    def __init__(self, place: Database, sizes: Sizes) -> None:
        self._connection = connect(place.path)
        self._connection.execute("pragma busy_timeout = 10000")  # the node in the same file writes heartbeats
        self._sizes = sizes
        self._step = _STEP.format("?1", "?2", "?3", "?4", "?5", "?6")
        self._connection.execute(INSERT_TABLE.format(bytes="blob"))

    def close(self) -> None:
        self._connection.close()

    def steps(self) -> int:
        sizes, identity, run = self._sizes, new_id(), self._connection.execute
        state = sizes.state
        journal = renamed(JOURNAL, sizes.journal, instance_id=identity, data=sizes.entry)
        for version in range(1, STEPS + 2):
            run("begin immediate")
            if version == 1:
                run(INSTANCE.insert, renamed(INSTANCE, sizes.instance, id=identity))
            else:
                run(self._step, (version, identity, version, state, "", identity))
            run(JOURNAL.insert, renamed(JOURNAL, journal, version=version))
            run("commit")
        return 1

    def floor(self) -> int:
        sizes, connection = self._sizes, self._connection
        ids = [new_id() for _ in range(BATCH)]
        connection.execute("begin immediate")
        connection.executemany(INSTANCE.insert, [renamed(INSTANCE, sizes.instance, id=name) for name in ids])
        connection.executemany(JOURNAL.insert, [renamed(JOURNAL, sizes.journal, instance_id=name) for name in ids])
        connection.execute("commit")
        return BATCH

    def timed_insert(self) -> float:
        begin = time.perf_counter()
        self._connection.execute("insert into bench_insert values (?, ?)", (next(_numbers), SMALL))
        return time.perf_counter() - begin


def file_size(place: Database) -> int:
    """Bytes of the pages in use, after a checkpoint of the write-ahead log."""
    connection = sqlite3.connect(place.path)
    try:
        connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        pages, free, size = (
            connection.execute(f"pragma {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
    finally:
        connection.close()
    used: int = (pages - free) * size
    return used
