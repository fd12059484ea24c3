"""One contender: a process with one version of Holdfast that runs a round for each line on its standard input.

It uses only names that exist in every version it is compared with, so imports fall back to earlier places. A line names the
case, the number of operations and how many are in flight; the answer is one line of JSON with wall time and CPU time.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

One = Callable[[int], Awaitable[Any]]


def named(*places: str) -> Any:
    """The first of these `module:name` that exists: a name may have moved between two versions."""
    for place in places:
        module, _, name = place.partition(":")
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise ImportError(f"None of {', '.join(places)} exists.")


Event = named("holdfast.activities:Event", "holdfast:Event")
Sequence = named("holdfast.activities:Sequence", "holdfast:Sequence")
SetVariable = named("holdfast.activities:SetVariable", "holdfast:SetVariable")
DispatchDefinition = named("holdfast.api:DispatchDefinition", "holdfast:DispatchDefinition")
Holdfast, Workflow, expr = named("holdfast:Holdfast"), named("holdfast:Workflow"), named("holdfast:expr")
tune_garbage_collector = named(
    "holdfast.engine.garbage_collector:tune_garbage_collector", "holdfast.runtime.garbage:calm_collector"
)

TEN = Workflow(Sequence(*(SetVariable("x", expr("x + 1")) for _ in range(10))), id="against-ten", variables={"x": 0})
WAITING = Workflow(Sequence(Event("go"), SetVariable("x", expr("x + 1"))), id="against-wait", variables={"x": 0})


async def in_flight(count: int, workers: int, one: One) -> None:
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await one(number)

    await asyncio.gather(*(worker() for _ in range(workers)))


async def case(name: str, count: int, engine: Any, runtime: Any) -> One:
    """The operation of a case; waiting instances are started before the clock runs."""
    if name == "start":
        return lambda _: runtime.start(TEN)
    if name == "dispatch":
        return lambda _: runtime.inline.dispatch(DispatchDefinition(definition_id=TEN.definition.id))
    if name == "run":
        return lambda _: engine.runner.run(TEN)
    waiting: list[str] = []

    async def start(_: int) -> None:
        waiting.append((await runtime.start(WAITING)).result.instance_id)

    await in_flight(count, 64, start)
    if name == "resume":
        return lambda number: runtime.resume(waiting[number])
    return lambda number: runtime.stimuli.event("go", instance_id=waiting[number])


async def main(url: str) -> None:
    tune_garbage_collector()
    engine = Holdfast(entry_points=False)
    store = engine.store(url)
    await store.open()
    async with engine.runtime_on(store, node="contender", second_handle=engine.second_handle(url)) as runtime:
        runtime.take_work()
        await runtime.definitions.deploy(TEN)
        await runtime.definitions.deploy(WAITING)
        while line := await asyncio.to_thread(sys.stdin.readline):
            name, count, workers = line.split()
            one = await case(name, int(count), engine, runtime)
            wall, cpu = time.perf_counter(), time.process_time()
            await in_flight(int(count), int(workers), one)
            spent = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
            print(json.dumps(spent), flush=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
