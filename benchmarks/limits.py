"""Steps under a limit per value of an input, on PostgreSQL: time with two workers against time with one worker.

Each instance has a step for each of four customers, so that results of one instance hardly ever meet. Rounds with one and with
two workers take turns.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack

from benchmarks.figures import Effort, Figure, Group
from benchmarks.store_databases import POSTGRES, Database, database
from holdfast import Holdfast, Status, activity, gather, workflow
from holdfast.management.runtime import ManagedRuntime

DELIVERIES = 50
STEPS = 4 * DELIVERIES
STEP_SECONDS = 0.05
TURNS = 5
LIMIT = "etl/customer=4@50/s"
TURN_SECONDS_MAX = 60

FIGURES = (
    Figure("limits.starve", f"time of {STEPS} steps under a limit per value with two workers, against one", goal=1.0),
    Figure("limits.seconds", f"seconds of {STEPS} steps under a limit per value, with one worker"),
)


@activity(queue="etl")
async def convert(customer: str, number: int) -> int:
    await asyncio.sleep(STEP_SECONDS)
    return number


@workflow
async def delivery(number: int) -> int:
    await gather(*[convert(f"customer-{customer}", number) for customer in range(4)])
    return number


def measure(effort: Effort) -> Mapping[str, float]:
    with database(POSTGRES) as place:
        one, two = asyncio.run(_measure_in(place))
    return {"limits.starve": two / one, "limits.seconds": one}


async def _measure_in(place: Database) -> tuple[float, float]:
    one, two = list[float](), list[float]()
    await _seconds(place, "warm", workers=1)
    for turn in range(TURNS):
        one.append(await _seconds(place, f"one-{turn}", workers=1))
        two.append(await _seconds(place, f"two-{turn}", workers=2))
    return min(one), min(two)


async def _seconds(place: Database, name: str, workers: int) -> float:
    async with AsyncExitStack() as stack:
        runtimes = [await _worker(stack, place, f"{name}-{number}") for number in range(workers)]
        began = time.perf_counter()
        ids = [f"{name}-{number}" for number in range(DELIVERIES)]
        await asyncio.gather(*(runtimes[0].start(delivery, {"number": 1}, instance_id=each) for each in ids))
        async with asyncio.timeout(TURN_SECONDS_MAX):
            results = await asyncio.gather(*map(runtimes[0].wait_at_rest, ids))
        assert {result.status for result in results} == {Status.FINISHED}
        return time.perf_counter() - began


async def _worker(stack: AsyncExitStack, place: Database, name: str) -> ManagedRuntime:
    engine = Holdfast(entry_points=False, definitions=[delivery], activities=[convert], cluster_limits=LIMIT)
    stack.callback(engine.close)
    store = engine.store(place.url)
    await store.open()
    stack.push_async_callback(store.close)
    runtime = await stack.enter_async_context(engine.runtime_on(store, node=name, queues=("default", "etl")))
    runtime.take_work()
    return runtime


GROUP = Group("limits", FIGURES, measure)
