"""Each store is fought over twice: by workers that commit rows of their own (many bursts), and by nodes that run workflows
through the runtime (effects, timers, keys). PostgreSQL is a server of our own and is stopped in immediate mode meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct

from tests.support.chaos.contention import ChaosReport, Crash
from tests.support.chaos.runtime_chaos import runtime_chaos
from tests.support.chaos.store_chaos import chaos
from tests.support.services.mysql import mysql_database
from tests.support.services.postgresql import PostgresServer

Opened = tuple[Callable[[], str], Crash | None]
"""Gives the URL of an empty database; crashes the server, where we own it."""


class Effort(Struct, frozen=True, kw_only=True):
    """What a store must stand at least."""

    kills: int
    """Of each kind of fight."""
    crashes: int
    bursts: int
    resumes: int


@contextmanager
def sqlite() -> Iterator[Opened]:
    with TemporaryDirectory() as folder:
        numbers = count()
        yield lambda: f"sqlite:///{Path(folder) / f'{next(numbers)}.db'}", None


@contextmanager
def postgresql() -> Iterator[Opened]:
    with PostgresServer() as server:
        numbers = count()

        async def crash() -> None:
            await asyncio.to_thread(server.stop)  # immediate: no checkpoint, the next start recovers
            await asyncio.to_thread(server.start)

        yield lambda: server.database(f"chaos{next(numbers)}"), crash


@contextmanager
def mysql() -> Iterator[Opened]:
    with mysql_database() as first, mysql_database() as second:
        urls = iter((first, second))
        yield lambda: next(urls), None


LONG = {
    "sqlite": (sqlite, Effort(kills=55, crashes=0, bursts=50_000, resumes=4_000)),
    "postgresql": (postgresql, Effort(kills=55, crashes=2, bursts=50_000, resumes=4_000)),
    "mysql": (mysql, Effort(kills=20, crashes=0, bursts=5_000, resumes=800)),
}


def store_row(name: str) -> dict[str, Any]:
    """One row for chaos.json. Raises `ServiceMissing`."""
    opened, effort = LONG[name]
    with opened() as (database, crash):
        rows = asyncio.run(
            chaos(
                database(),
                kills=effort.kills,
                bursts=effort.bursts,
                crash_database=crash,
                crashes=effort.crashes,
            )
        )
        nodes = asyncio.run(
            runtime_chaos(
                database(),
                kills=effort.kills,
                resumes=effort.resumes,
                crash_database=crash,
                crashes=effort.crashes,
            )
        )
    return summed(by_rows=rows, by_nodes=nodes)


def summed(**reports: ChaosReport) -> dict[str, Any]:
    """One row of several reports: their sums, then each."""
    told = {name: _told(report) for name, report in reports.items()}
    figures = list(told.values())
    return {
        **{key: sum(item[key] for item in figures) for key in figures[0]},
        "sound": all(report.sound for report in reports.values()),
        "broken": [
            f"{name}: {finding}"
            for name, report in reports.items()
            for finding in (*report.evidence, *report.violations)
        ],
        **told,
    }


def _told(report: ChaosReport) -> dict[str, int]:
    return {
        "kills": report.kills,
        "db_crashes": report.db_crashes,
        "bursts": report.bursts,
        "acknowledged": report.acknowledged,
        "lost": report.lost,
        "duplicated": report.duplicated,
        "violations": len(report.violations),
    }
