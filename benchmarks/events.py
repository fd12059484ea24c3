"""Cost of many events to one instance at once, against the same events one by one; and of one event alone, against one insert.

On PostgreSQL. A cost is CPU of this process and of the database, per event. `resume` is wall time: an event is sent to an
instance and its result awaited, in turns with a bare insert of one row in a transaction of its own.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # the driver brings no types

from benchmarks.figures import Effort, Figure, Group
from benchmarks.rounds import MICROSECONDS
from benchmarks.store_databases import POSTGRES, World, database, world
from holdfast import wait_for, workflow

EVENTS = 1_000
TURNS = 3
ALONE = 100

FIGURES = (
    Figure(f"events.burst_{EVENTS}", f"CPU of {EVENTS:,} events at once to one instance, over one by one", goal=0.3),
    Figure(f"events.burst_{EVENTS}.us", f"CPU µs of each of {EVENTS:,} events at once to one instance"),
    Figure("events.one_by_one.us", "CPU µs of each of as many events, each awaited"),
    Figure("resume.p50_vs_insert", "median time from an event to the result, alone, over an insert of one row", goal=4),
)


@workflow
async def listens(count: int) -> int:
    got = 0
    while got < count:
        await wait_for("message")
        got += 1
    return got


@workflow
async def answers(number: int) -> int:
    await wait_for("message", key=number)
    return number


def measure(effort: Effort) -> Mapping[str, float]:
    with database(POSTGRES) as place:
        return asyncio.run(_measure(place))


async def _measure(place: Any) -> dict[str, float]:
    burst, single = [], []
    async with world(place) as here:
        here.runtime.take_work()
        await _cost(here, "first", at_once=True)  # Opens the connections.
        for turn in range(TURNS):
            burst.append(await _cost(here, f"burst-{turn}", at_once=True))
            single.append(await _cost(here, f"single-{turn}", at_once=False))
        alone, insert = await _alone(here, place.url)
    return {
        f"events.burst_{EVENTS}": min(burst) / min(single),
        f"events.burst_{EVENTS}.us": min(burst) * MICROSECONDS,
        "events.one_by_one.us": min(single) * MICROSECONDS,
        "resume.p50_vs_insert": alone / insert,
    }


async def _cost(here: World, name: str, *, at_once: bool) -> float:
    """CPU seconds of one event."""
    runtime = here.runtime
    await runtime.start(listens, {"count": EVENTS}, instance_id=name)
    before = await _used(here)
    sends = (runtime.stimuli.event("message", number, instance_id=name) for number in range(EVENTS))
    if at_once:
        await asyncio.gather(*sends)
    else:
        for send in sends:
            await send
    ended = await runtime.wait_at_rest(name)
    assert ended.outputs == {"result": EVENTS}
    return (await _used(here) - before) / EVENTS


async def _used(here: World) -> float:
    """CPU seconds of this process and of the database. Its connections are open by now, so none is missing later."""
    return time.process_time() + sum((await here.processor.backends()).values())


async def _alone(here: World, url: str) -> tuple[float, float]:
    """Median seconds from the event to the result, and of an insert, in turns."""
    connection = await asyncpg.connect(url)
    await connection.execute("create table bare (number integer primary key, text text)")
    alone, insert = [], []
    try:
        for number in range(ALONE):
            name = f"alone-{number}"
            await here.runtime.start(answers, {"number": number}, instance_id=name)
            begun = perf_counter()
            await here.runtime.stimuli.event("message", number, key=number)
            await here.runtime.wait_at_rest(name)
            alone.append(perf_counter() - begun)
            begun = perf_counter()
            await connection.execute("insert into bare values ($1, $2)", number, name)
            insert.append(perf_counter() - begun)
    finally:
        await connection.close()
    return statistics.median(alone), statistics.median(insert)


GROUP = Group("events", FIGURES, measure)
