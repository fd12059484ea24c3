"""Cost of idle workers for PostgreSQL: CPU of the database per workflow, with and without idle workers beside the busy one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack

from benchmarks import holdfast_engine
from benchmarks.figures import Effort, Figure, Group
from benchmarks.store_databases import POSTGRES, Database, World, database, world
from holdfast import activity, workflow

IDLE = 8
WORKFLOWS = 1_500
AT_ONCE = 16
TURNS = 5

FIGURES = (
    Figure(
        "cluster.pg_us_ratio", f"CPU of PostgreSQL per workflow with {IDLE} idle workers, against without", goal=1.1
    ),
    Figure("cluster.pg_us", "CPU µs of PostgreSQL per workflow with one effect, alone"),
)


@activity
async def step(number: int) -> int:
    return number + 1


@workflow
async def one_effect(number: int) -> int:
    return await step(number)


def measure(effort: Effort) -> Mapping[str, float]:
    with database(POSTGRES) as place:
        alone, beside = asyncio.run(_measure_in(place))
    return {"cluster.pg_us_ratio": beside / alone, "cluster.pg_us": alone}


async def _measure_in(place: Database) -> tuple[float, float]:
    async with world(place) as here:
        here.runtime.take_work()
        await _cost(here, "warm")
        alone, beside = list[float](), list[float]()
        for turn in range(TURNS):
            alone.append(await _cost(here, f"alone-{turn}"))
            async with AsyncExitStack() as stack:
                for number in range(IDLE):
                    await _idle_worker(stack, place, f"idle-{turn}-{number}")
                beside.append(await _cost(here, f"beside-{turn}"))
    return min(alone), min(beside)


async def _idle_worker(stack: AsyncExitStack, place: Database, name: str) -> None:
    engine = holdfast_engine.engine()
    stack.callback(engine.close)
    store = engine.store(place.url)
    await store.open()
    stack.push_async_callback(store.close)
    runtime = await stack.enter_async_context(engine.runtime_on(store, node=name))
    runtime.take_work()


async def _cost(here: World, name: str) -> float:
    """CPU µs of the database per workflow."""
    await asyncio.sleep(0.5)  # Connections of idle workers are open, and the list of instances is up to date.
    before = await here.processor.backends()
    places = asyncio.Semaphore(AT_ONCE)

    async def run(number: int) -> None:
        async with places:
            await here.runtime.start(one_effect, {"number": number}, instance_id=f"{name}-{number}")
            await here.runtime.wait_at_rest(f"{name}-{number}")

    await asyncio.gather(*map(run, range(WORKFLOWS)))
    after = await here.processor.backends()
    return sum(used - before.get(pid, 0.0) for pid, used in after.items()) / WORKFLOWS * 1_000_000


GROUP = Group("cluster", FIGURES, measure)
