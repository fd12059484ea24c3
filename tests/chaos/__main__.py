"""The long form of the chaos test: `python -m tests.chaos`, or `make chaos`. Writes benchmarks/results/chaos.json.

Each store is fought over twice: by workers that commit rows of their own (many bursts), and by nodes that run workflows
through the runtime (effects, timers, keys). Then a cluster of workers over a broker (`tests/chaos/cluster.py`). PostgreSQL is
a server of our own and is stopped in immediate mode meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from holdfast import __version__
from holdfast.testing.chaos import ChaosReport, chaos
from holdfast.testing.mysql_server import mysql_database
from holdfast.testing.runtime_chaos import Crash, runtime_chaos
from holdfast.testing.servers import PostgresServer, ServiceMissing
from tests.chaos.cluster import cluster_row

CLUSTER = "cluster"
RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "chaos.json"
Opened = tuple[Callable[[], str], Crash | None]
"""Gives the URL of an empty database; crashes the server, where we own it."""


@contextmanager
def sqlite() -> Iterator[Opened]:
    with TemporaryDirectory() as folder:
        numbers = iter(range(100))
        yield lambda: f"sqlite:///{Path(folder) / f'{next(numbers)}.db'}", None


@contextmanager
def postgresql() -> Iterator[Opened]:
    with PostgresServer() as server:
        numbers = iter(range(100))

        def database() -> str:
            import asyncpg  # type: ignore[import-untyped]  # the driver brings no types

            name = f"chaos{next(numbers)}"

            async def create() -> None:
                connection = await asyncpg.connect(server.url)
                await connection.execute(f"create database {name}")
                await connection.close()

            asyncio.run(create())
            return server.url.rpartition("/")[0] + "/" + name

        async def crash() -> None:
            def again() -> None:
                server.stop()  # immediate: no checkpoint, the next start recovers
                server.start()

            await asyncio.to_thread(again)

        yield database, crash


@contextmanager
def mysql() -> Iterator[Opened]:
    with mysql_database() as first, mysql_database() as second:
        urls = iter((first, second))
        yield lambda: next(urls), None


STORES = {"sqlite": sqlite, "postgresql": postgresql, "mysql": mysql}


def fought(store: str, kills: int, bursts: int) -> dict[str, Any]:
    with STORES[store]() as (database, crash):
        crashes = 0 if crash is None else 2
        rows = asyncio.run(
            chaos(
                database(), kills=kills, bursts_per_kill=max(50, bursts // kills), crash_database=crash, crashes=crashes
            )
        )
        nodes = asyncio.run(
            runtime_chaos(database(), kills=kills, resumes_per_kill=60, crash_database=crash, crashes=crashes)
        )
    return {**_sum(rows, nodes), "by_rows": _told(rows), "by_nodes": _told(nodes)}


def _told(report: ChaosReport) -> dict[str, Any]:
    return {
        "kills": report.kills,
        "db_crashes": report.db_crashes,
        "bursts": report.bursts,
        "acknowledged": report.acknowledged,
        "lost": report.lost,
        "duplicated": report.duplicated,
        "violations": len(report.violations),
        "broken": list(report.violations[:20]),
    }


def _sum(*reports: ChaosReport) -> dict[str, int]:
    told = [_told(report) for report in reports]
    return {
        name: sum(item[name] for item in told)
        for name in ("kills", "db_crashes", "bursts", "acknowledged", "lost", "duplicated", "violations")
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="*", default=[*STORES, CLUSTER], help=f"any of {', '.join(STORES)}, {CLUSTER}")
    parser.add_argument("--kills", type=int, default=60, help="per store and kind of fight")
    parser.add_argument("--bursts", type=int, default=65_000, help="about, per store, of the first kind")
    parser.add_argument("--orders", type=int, default=2_000, help="of the cluster")
    asked = parser.parse_args()
    found: dict[str, Any] = {}
    for store in asked.stores:
        try:
            if store == CLUSTER:
                found[store] = _cluster(asked.orders)
                continue
            found[store] = fought(store, asked.kills, asked.bursts)
        except ServiceMissing as missing:
            sys.stderr.write(f"{store}: left out, {missing}\n")
            continue
        figures = {name: value for name, value in found[store].items() if isinstance(value, int)}
        sys.stdout.write(f"{store} {json.dumps(figures)}\n")
    _write(found, {"kills": asked.kills, "bursts": asked.bursts})
    return 0 if all(_is_sound(item) for item in found.values()) else 1


def _cluster(orders: int) -> dict[str, Any]:
    row = cluster_row(orders, max(5, orders // 33))
    sys.stdout.write(f"{CLUSTER} {json.dumps(row)}\n")
    return row


def _is_sound(item: dict[str, Any]) -> bool:
    return bool(item["sound"]) if "sound" in item else not (item["lost"] or item["duplicated"] or item["violations"])


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False).stdout.strip()


def _write(found: dict[str, Any], settings: dict[str, int]) -> None:
    document = {
        "commit": _git("rev-parse", "HEAD"),
        "changed_since": bool(_git("status", "--porcelain", "--untracked-files=no", "src", "tests")),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {"holdfast": __version__, "python": platform.python_version()},
        "settings": settings,
        "stores": {name: row for name, row in found.items() if name != CLUSTER},
        CLUSTER: found.get(CLUSTER),
    }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
