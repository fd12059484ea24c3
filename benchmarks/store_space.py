"""Space of an instance: bytes in the database for a suspended one, memory of a process with 10,000 in flight.

Suspended: 20,000 orders that wait for an event, with a state of about 400 bytes; the growth of all tables and indexes, divided.
In flight: a separate process starts 10,000 workflows of ten activities at once on SQLite; its peak resident memory.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.figures import Effort, Figure, Group, Unmeasurable
from benchmarks.store_baselines import file_size
from benchmarks.store_databases import KINDS, POSTGRES, SQLITE, Database, connections, database, world
from benchmarks.store_turns import Measure
from holdfast import Status, Workflow, expr
from holdfast.activities import Event, Sequence, SetVariable

ASLEEP = 20_000
TOGETHER = 500
IN_FLIGHT = 10_000
ROOT = Path(__file__).resolve().parent.parent

MEMORY = (
    Figure("store.rss_mb_10k", f"peak memory of a process with {IN_FLIGHT:,} instances in flight, MB", 110),
    Figure("store.rss_mb_10k.idle", "the same process before it starts them, MB"),
)


def figures_of(kind: str) -> tuple[Figure, ...]:
    goal = 450 if kind == POSTGRES else None
    return (
        Figure(f"store.{kind}.bytes_per_suspended", "bytes of one suspended instance, all tables and indexes", goal),
        Figure(f"store.{kind}.bytes_per_suspended.state", "bytes of its encoded state, before compression"),
    )


def order(number: int) -> dict[str, Any]:
    """Different for each number, like real orders."""
    return {
        "number": f"2026-{number:08d}",
        "customer": f"customer {number * 7919 % 100_003} of {number * 104_729 % 1_009} Harbour Road",
        "lines": [{"article": f"A{number * 31 % 9973}", "count": number % 7 + 1, "price": number % 900 + 99}],
    }


def waiting() -> Workflow:
    return Workflow(
        Sequence(SetVariable("seen", expr("True")), Event(expr('"paid " + order["number"]'))),
        id="bench-order",
        name="Order",
        inputs={"order": dict},
        variables={"seen": False},
    )


def _measuring(kind: str) -> Measure:
    return lambda effort: measure(effort, kind)


def measure(effort: Effort, kind: str) -> Mapping[str, float]:
    with database(kind) as place:
        grown, state = asyncio.run(_put_to_sleep(place))
    return {
        f"store.{kind}.bytes_per_suspended": grown / ASLEEP,
        f"store.{kind}.bytes_per_suspended.state": state,
    }


async def _put_to_sleep(place: Database) -> tuple[int, int]:
    """Bytes by which the database grew, and bytes of one state. The definition is stored before."""
    workflow = waiting()
    async with world(place) as here:
        runtime = here.runtime
        answer = await runtime.start(workflow, {"order": order(0)})
        assert answer.result is not None
        assert answer.result.status is Status.SUSPENDED
        state = len((await runtime.row(answer.result.instance_id)).state)
    before = await _used(place)
    async with world(place) as here:
        for first in range(1, ASLEEP + 1, TOGETHER):
            numbers = range(first, first + TOGETHER)
            await asyncio.gather(*(here.runtime.start(workflow, {"order": order(number)}) for number in numbers))
    return await _used(place) - before, state


async def _used(place: Database) -> int:
    """Without writers, and after a vacuum, since outbox rows are temporary."""
    if place.kind == SQLITE:
        return await asyncio.to_thread(file_size, place)
    (connection,) = await connections(place, 1)
    try:
        await connection.execute("vacuum")
        used: int = await connection.fetchval(
            "select sum(pg_total_relation_size(oid))::bigint from pg_class where relkind = 'r' and relname like 'hf\\_%'"
        )
        return used
    finally:
        await connection.close()


# -- memory ------------------------------------------------------------------------------------------------------------


def measure_memory(effort: Effort) -> Mapping[str, float]:
    if sys.platform != "linux":
        raise Unmeasurable("The peak memory of a process is read from /proc, which exists only on Linux.")
    peaks = []
    for _ in range(3):
        with database(SQLITE) as place:
            command = [sys.executable, "-m", "benchmarks.store_memory", place.url, str(IN_FLIGHT)]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unmeasurable(f"The measured process failed: {done.stderr[-500:]}")
        peaks.append(json.loads(done.stdout))
    least = min(peaks, key=lambda found: float(found["peak"]))
    return {"store.rss_mb_10k": least["peak"], "store.rss_mb_10k.idle": least["idle"]}


GROUPS = (
    *(Group(f"store space, {kind}", figures_of(kind), _measuring(kind)) for kind in KINDS),
    Group("store memory", MEMORY, measure_memory),
)
