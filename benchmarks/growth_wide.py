"""Cost of wide instances: children, steps of a fan-out, and a gather. And how long such an instance blocks the event loop.

Each workflow runs to its end at two widths. CPU of this process and of PostgreSQL together counts. A task that
wakes every millisecond measures the longest turn of the event loop.
"""

from __future__ import annotations

import asyncio
import math
import resource
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from benchmarks.figures import Effort, Figure, Group
from benchmarks.store_databases import POSTGRES, Database, database, world
from holdfast import Status, activity, gather, run_child, workflow

SLOPE_MAX = 1.1
SOME, MANY = 1_000, 10_000
STEPS_SOME, STEPS_MANY = 500, 2_000
WIDE = 100_000
QUEUE = "default"
PAUSE_SECONDS = 0.001
"""Pause between two looks at the clock. A task that never pauses would be a part of the CPU that is measured."""


@activity
async def doubled(number: int) -> int:
    return 2 * number


@activity(queue=QUEUE)
async def carried(number: int) -> int:
    return 2 * number


@workflow
async def child(number: int) -> int:
    return 2 * number


@workflow
async def children(count: int) -> int:
    return sum(await gather(*[run_child(child, number) for number in range(count)]))


@workflow
async def steps(count: int) -> int:
    return sum(await gather(*[carried(number) for number in range(count)]))


@workflow
async def wide(count: int) -> int:
    return sum(await gather(*[doubled(number) for number in range(count)]))


WORKFLOWS: Mapping[str, Any] = {"children": children, "steps": steps, "wide": wide}

FIGURES = (
    Figure("growth.children", f"a parent with children: slope of the total CPU from {SOME:,} to {MANY:,}", SLOPE_MAX),
    Figure("growth.children.ms", f"CPU ms per child with {MANY:,} children"),
    Figure(
        "growth.steps_queue",
        f"steps of one fan-out on a queue: slope of the total CPU from {STEPS_SOME:,} to {STEPS_MANY:,}",
        SLOPE_MAX,
    ),
    Figure("growth.steps_queue.ms", f"CPU ms per step with {STEPS_MANY:,} steps"),
    Figure("loop.worst_hold_ms", f"longest turn of the event loop, a gather of {WIDE:,} and {MANY:,} children", 20),
    Figure("growth.gather_rss_mb", f"memory of the process after a gather of {WIDE:,}", 300),
)


def measure(effort: Effort) -> Mapping[str, float]:
    cost: dict[tuple[str, int], float] = {}
    holds = [0.0]
    rss = 0.0
    for name, counts in (("wide", (WIDE,)), ("children", (SOME, MANY)), ("steps", (STEPS_SOME, STEPS_MANY))):
        for count in counts:
            with database(POSTGRES) as place:
                cost[name, count], hold = asyncio.run(_run(place, WORKFLOWS[name], count))
            if name != "steps":
                holds.append(hold)
            rss = rss or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    return {
        "growth.children": _slope(cost, "children", SOME, MANY),
        "growth.children.ms": cost["children", MANY] / MANY * 1_000,
        "growth.steps_queue": _slope(cost, "steps", STEPS_SOME, STEPS_MANY),
        "growth.steps_queue.ms": cost["steps", STEPS_MANY] / STEPS_MANY * 1_000,
        "loop.worst_hold_ms": max(holds) * 1_000,
        "growth.gather_rss_mb": rss,
    }


def _slope(cost: Mapping[tuple[str, int], float], name: str, few: int, many: int) -> float:
    return math.log(cost[name, many] / cost[name, few]) / math.log(many / few)


async def _run(place: Database, flow: Any, count: int) -> tuple[float, float]:
    """CPU seconds of the workflow, and seconds of the longest turn of the event loop."""
    async with world(place) as here:
        here.runtime.take_work()
        await here.runtime.start(flow, {"count": 1}, instance_id="first")  # Compiles, and opens connections.
        await here.runtime.wait_at_rest("first")
        turns = LongestTurn()
        begun, before = time.process_time(), await here.processor.backends()
        with turns:
            await here.runtime.start(flow, {"count": count}, instance_id="wide")
            ended = await here.runtime.wait_at_rest("wide")
        assert ended.status is Status.FINISHED
        used = time.process_time() - begun
        after = await here.processor.backends()
    return used + sum(at - before.get(pid, 0.0) for pid, at in after.items()), turns.seconds


class LongestTurn:
    """The longest turn of the event loop inside the block."""

    seconds = 0.0

    def __enter__(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._watch())

    def __exit__(self, *error: object) -> None:
        self._task.cancel()

    async def _watch(self) -> None:
        last = time.perf_counter()
        with suppress(asyncio.CancelledError):
            while True:
                await asyncio.sleep(PAUSE_SECONDS)
                now = time.perf_counter()
                self.seconds = max(self.seconds, now - last - PAUSE_SECONDS)
                last = now


GROUP = Group("growth of width", FIGURES, measure)
