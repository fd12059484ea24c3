"""Cost of a commit on PostgreSQL while many callers of the process wait for results of other instances.

Chains of effects with and without waiting callers take turns. The cost is CPU of the process and of the database.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from benchmarks.figures import Effort, Figure, Group
from benchmarks.store_databases import POSTGRES, Database, World, database, world
from holdfast import Workflow, activity, workflow
from holdfast.activities import Event

CALLERS = 1_000
EFFECTS = 200
TURNS = 7

FIGURES = (
    Figure("waiters.1000", f"extra cost in % of a commit while {CALLERS:,} callers wait for other instances", goal=5),
)

sleeper = Workflow(Event("never"), id="bench-sleeper")


@activity
async def counted(number: int) -> int:
    return number + 1


@workflow
async def chain(effects: int) -> int:
    number = 0
    while number < effects:
        number = await counted(number)
    return number


def measure(effort: Effort) -> Mapping[str, float]:
    with database(POSTGRES) as place:
        return {"waiters.1000": asyncio.run(_measure_in(place))}


async def _measure_in(place: Database) -> float:
    async with world(place) as here:
        for number in range(CALLERS):
            await here.runtime.start(sleeper, instance_id=f"sleeper-{number}")
        await _cost(here, "warm")
        alone, beside = list[float](), list[float]()
        for turn in range(TURNS):
            alone.append(await _cost(here, f"alone-{turn}"))
            callers = [asyncio.create_task(here.runtime.wait_at_rest(f"sleeper-{each}")) for each in range(CALLERS)]
            await asyncio.sleep(1)  # All callers have read their instance and wait.
            beside.append(await _cost(here, f"beside-{turn}"))
            for caller in callers:
                caller.cancel()
            await asyncio.gather(*callers, return_exceptions=True)
    return (min(beside) / min(alone) - 1) * 100


async def _cost(here: World, name: str) -> float:
    """CPU seconds of a chain of effects."""
    before, began = sum((await here.processor.backends()).values()), time.process_time()
    await here.runtime.start(chain, {"effects": EFFECTS}, instance_id=name)
    await here.runtime.wait_at_rest(name)
    used = time.process_time() - began
    return used + sum((await here.processor.backends()).values()) - before


GROUP = Group("waiters", FIGURES, measure)
