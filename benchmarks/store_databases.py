"""Databases of the store figures: empty, durable, with a runtime, and deleted afterwards.

PostgreSQL is the server at `HOLDFAST_TEST_POSTGRES_URL` or at the default local address; otherwise one is started. A server
without durable writes is refused. SQLite is a file in the temporary folder, with the store's own settings (write-ahead log,
`synchronous=FULL`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # the driver brings no types

from benchmarks import holdfast_engine
from benchmarks.figures import Unmeasurable
from holdfast.engine.garbage_collector import tune_garbage_collector
from holdfast.management.runtime import ManagedRuntime
from holdfast.ports import Store
from tests.support.services.availability import ServiceMissing
from tests.support.services.postgresql import postgres_database

POSTGRES, SQLITE = "pg", "sqlite"
KINDS = (POSTGRES, SQLITE)

DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
SETTINGS = (*DURABLE, "server_version", "shared_buffers", "wal_sync_method", "wal_compression", "max_wal_size")

FACTS: dict[str, str] = {}
"""Server and settings that the figures were measured on, for the result file."""


@dataclass(frozen=True, slots=True)
class Database:
    kind: str
    """`pg` or `sqlite`: the middle part of a figure's name."""
    url: str

    @property
    def path(self) -> Path:
        return Path(self.url.removeprefix("sqlite:///"))


@contextmanager
def database(kind: str) -> Iterator[Database]:
    """An empty database. Raises `Unmeasurable` if none is available."""
    if kind == SQLITE:
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
            yield Database(SQLITE, f"sqlite:///{folder}/bench.db")
        return
    try:
        with postgres_database() as url:
            yield Database(POSTGRES, url)
    except ServiceMissing as error:
        raise Unmeasurable(str(error)) from error


@dataclass(frozen=True, slots=True)
class World:
    """A database with a Holdfast runtime."""

    database: Database
    store: Store
    runtime: ManagedRuntime
    processor: Processor


@asynccontextmanager
async def world(place: Database) -> AsyncIterator[World]:
    engine = holdfast_engine.engine()
    store = engine.store(place.url)
    await store.open()
    processor = Processor(place)
    try:
        await processor.open()
        async with engine.runtime_on(store) as runtime:
            tune_garbage_collector()  # Like `holdfast serve` and `holdfast worker`.
            yield World(place, store, runtime, processor)
    finally:
        await processor.close()
        await store.close()
        engine.close()


async def connections(place: Database, count: int) -> list[Any]:
    """Raw connections for the baselines, with the same driver."""
    return [await asyncpg.connect(place.url) for _ in range(count)]


class Processor:
    """CPU seconds of this process and of the server processes of this database."""

    def __init__(self, place: Database) -> None:
        self._place = place
        self._connection: Any = None

    async def open(self) -> None:
        if self._place.kind == POSTGRES:
            self._connection = await asyncpg.connect(self._place.url)
            await self._check_durable()

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()

    async def _check_durable(self) -> None:
        found = {name: await self._connection.fetchval(f"show {name}") for name in SETTINGS}
        FACTS.update({f"postgresql.{name}": value for name, value in found.items()})
        for name, wanted in DURABLE.items():
            if found[name] != wanted:
                raise Unmeasurable(f"This PostgreSQL runs with {name}={found[name]}; durable figures need {wanted}.")

    async def log_position(self) -> int:
        """Position of the write-ahead log in bytes; 0 for SQLite."""
        if self._connection is None:
            return 0
        return int(await self._connection.fetchval("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"))

    async def backends(self) -> dict[int, float]:
        """CPU seconds of each server process; empty if they cannot be read (SQLite, remote server)."""
        if self._connection is None:
            return {}
        own = self._connection.get_server_pid()
        rows = await self._connection.fetch(
            "select pid from pg_stat_activity where datname = current_database() and pid <> $1", own
        )
        return {row[0]: used for row in rows if (used := _used(row[0])) is not None}


def _used(pid: int) -> float | None:
    """Read from the scheduler in nanoseconds; `/proc/<pid>/stat` counts hundredths of a second."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9
    except OSError:
        return None


def sleepers() -> int:
    """Number of instances for `.1m` figures. A reduced number is only printed."""
    return int(os.environ.get("BENCH_SLEEPERS", "1_000_000"))
