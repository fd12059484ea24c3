"""Timers, transports and workers: the figures of `holdfast bench`, on PostgreSQL and with every available transport."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from statistics import median

from benchmarks.figures import Effort, Figure, Group, Unmeasurable
from benchmarks.store_databases import POSTGRES, Database, connections, database
from holdfast.testing import bench
from tests.support.services.availability import ServiceMissing
from tests.support.services.brokers import broker_url

TURNS = 3
TRANSPORTS = {"database": None, "local": None, "rabbitmq": "rabbitmq", "nats": "nats", "redis": "redis"}
"""Each with the service that it requires."""


def measure_timers(effort: Effort) -> Mapping[str, float]:
    with database(POSTGRES) as place:
        turns = [asyncio.run(bench.timers(bench.place(place.url))) for _ in range(TURNS)]
    return {
        "timers.5k_ms": min(turn["ms"] for turn in turns),
        "timers.duplicates": sum(turn["duplicates"] for turn in turns),
    }


def measure_waits(effort: Effort) -> Mapping[str, float]:
    with database(POSTGRES) as place:
        found, deadlocks = asyncio.run(_waits(place))
    return {
        "waits.5k_p99_ms": found["p99_ms"],
        "waits.5k_p99_ms.p50": found["p50_ms"],
        "waits.5k_p99_ms.max": found["max_ms"],
        "waits.deadlocks": deadlocks,
    }


async def _waits(place: Database) -> tuple[Mapping[str, float], int]:
    """Uses a fresh database, so its counters belong to this run."""
    found = await bench.waits(bench.place(place.url))
    (connection,) = await connections(place, 1)
    try:
        sql = "select deadlocks from pg_stat_database where datname = current_database()"
        return found, await connection.fetchval(sql)
    finally:
        await connection.close()


def measure_cluster(effort: Effort) -> Mapping[str, float]:
    with database(POSTGRES) as place:
        turns = [asyncio.run(bench.speedup(bench.place(place.url))) for _ in range(TURNS)]
    return {"cluster.speedup_1ms": median([turn["speedup_1ms"] for turn in turns])}


def measure_dispatch(name: str, effort: Effort) -> Mapping[str, float]:
    service = TRANSPORTS[name]
    try:
        url = (
            f"{name}://" if service is None and name != "database" else name if service is None else broker_url(service)
        )
    except ServiceMissing as missing:
        raise Unmeasurable(str(missing)) from missing
    with database(POSTGRES) as place:
        found = asyncio.run(bench.dispatching(bench.place(place.url, url)))
    return {f"dispatch.{name}.{figure}": value for figure, value in found.items()}


def _figures(name: str) -> tuple[Figure, ...]:
    return (
        Figure(f"dispatch.{name}.start_p50_ms", "dispatched start until the step after it has ended, median"),
        Figure(f"dispatch.{name}.resume_p50_ms", "event until the step after it has ended, median"),
        Figure(f"dispatch.{name}.resume_p99_ms", "the same, 99th percentile"),
    )


GROUPS = (
    Group(
        "timers",
        (
            Figure(
                "timers.5k_ms", "5,000 timers due at the same instant on PostgreSQL: until the last one has fired", 400
            ),
            Figure("timers.duplicates", "timers that fired twice", 0),
        ),
        measure_timers,
    ),
    Group(
        "waits",
        (
            Figure("waits.5k_p99_ms", "5,000 waits, 500/s, event and timeout together: until it has ended", 100),
            Figure("waits.5k_p99_ms.p50", "the same, median"),
            Figure("waits.5k_p99_ms.max", "the same, the slowest"),
            Figure("waits.deadlocks", "deadlocks that PostgreSQL counted meanwhile", 0),
        ),
        measure_waits,
    ),
    Group(
        "cluster",
        (
            Figure(
                "cluster.speedup_1ms",
                "two workers over one, 1 ms of processor per burst, PostgreSQL",
                1.7,
                at_least=True,
            ),
        ),
        measure_cluster,
    ),
    *(Group(f"dispatch, {name}", _figures(name), partial(measure_dispatch, name)) for name in TRANSPORTS),
)
