"""Cost of an effect in a loop over many records, against a loop over few records.

A loop over 10,000 records and a loop over 100 records take turns on SQLite; each runs a fixed number of effects and stops. Only
CPU of the process counts, not the disk. Bytes are the size of a commit: state, values and inputs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.figures import Effort, Figure, Group
from benchmarks.rounds import MICROSECONDS
from benchmarks.store_databases import SQLITE, Database, database, world
from benchmarks.store_effects import Watched
from holdfast import Status, Workflow, activity, expr, workflow
from holdfast.activities import Break, ForEach, If, Sequence

FEW, MANY = 100, 10_000
EFFECTS = 60
TURNS = 3

FIGURES = tuple(
    figure
    for name, what in (
        ("each", "in a ForEach"),
        ("function", "in a for loop of a plain function"),
        ("growing", "in a for loop that appends each result to a list of as many"),
    )
    for figure in (
        Figure(f"store.loops.{name}", f"CPU of an effect {what}, over {MANY:,} records against over {FEW}"),
        Figure(f"store.loops.{name}.us", f"CPU µs of an effect {what} over {MANY:,} records"),
        Figure(f"store.loops.{name}.bytes", f"committed bytes per effect, over {MANY:,} records"),
    )
)


@activity
async def billed(order: dict[str, Any]) -> int:
    return int(order["amount"])


def each() -> Workflow:
    stop = If(expr(f"CurrentIndex == {EFFECTS}"), then=Break())
    return Workflow(
        ForEach(expr("orders"), Sequence(billed.bind(expr("CurrentValue"), result="last"), stop)),
        id="bench-each",
        inputs={"orders": list},
        variables={"last": 0},
    )


@workflow
async def function(orders: list[Any]) -> int:
    total = 0
    for number, order in enumerate(orders):
        total += await billed(order)
        if number == EFFECTS:
            break
    return total


@workflow
async def growing(orders: list[Any]) -> int:
    done = [dict(order) for order in orders]
    for number, order in enumerate(orders):
        done.append({"order": order["id"], "amount": await billed(order)})
        if number == EFFECTS:
            break
    return len(done)


LOOPS: Mapping[str, Callable[[], Any]] = {"each": each, "function": lambda: function, "growing": lambda: growing}


def measure(effort: Effort) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for name, make in LOOPS.items():
        cost: dict[int, tuple[float, float]] = {}
        for _ in range(TURNS):
            for count in (FEW, MANY):
                with database(SQLITE) as place:
                    turn = asyncio.run(_run(place, make(), count))
                cost[count] = min(cost.get(count, turn), turn)
        found |= {
            f"store.loops.{name}": cost[MANY][0] / cost[FEW][0],
            f"store.loops.{name}.us": cost[MANY][0] * MICROSECONDS,
            f"store.loops.{name}.bytes": cost[MANY][1],
        }
    return found


async def _run(place: Database, loop: Any, count: int) -> tuple[float, float]:
    """CPU seconds and bytes of one effect, without the first effects, which write the list."""
    orders = [{"id": number, "customer": f"customer {number}", "amount": 3 * number} for number in range(count)]
    async with world(place) as here:
        watched = Watched(here.store, time.process_time)
        here.store.commit = watched.commit  # type: ignore[method-assign]  # to record the commits
        answer = await here.runtime.start(loop, {"orders": orders})
        assert answer.result is not None
        ended = await here.runtime.settle(answer.result.instance_id)
        assert ended.status is Status.FINISHED
    times, sizes = watched.times[5:-1], watched.sizes[5:-1]
    assert len(times) > EFFECTS // 2
    return (times[-1] - times[0]) / (len(times) - 1), sum(sizes) / len(sizes)


GROUP = Group("store loops", FIGURES, measure)
