"""Cost of an effect as the state of its instance grows: variables that the code does not mention, loops over long lists, lists
and dicts that grow with each effect, and many pending calls.

Each workflow begins with a container of 1,000 and of 100,000 items and then runs a fixed number of effects. CPU of this process
and of PostgreSQL together counts. The slope is that of the total CPU of a workflow that runs as many effects as it has items:
1 plus the slope of the cost of one effect.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.figures import Effort, Figure, Group
from benchmarks.rounds import MICROSECONDS
from benchmarks.store_databases import POSTGRES, Database, World, database, world
from holdfast import activity, parallel, workflow
from holdfast.model.commit import Commit, CommitOutcome

FEW, SOME, MANY = 100, 1_000, 100_000
EFFECTS = 150
SKIPPED = 10
"""Effects before the measurement: the first commits write the container."""
TURNS = 2
SLOPE_MAX = 1.1


@activity
async def charged(number: int) -> int:
    return number + 1


@activity
async def billed(order: dict[str, Any]) -> int:
    return int(order["amount"])


def records(count: int) -> list[dict[str, Any]]:
    return [{"id": number, "customer": f"customer {number}", "amount": 3 * number} for number in range(count)]


@workflow
async def scope(orders: list[Any], effects: int) -> int:
    total = 0
    for number in range(effects):
        total += await charged(number)
    return total + len(orders)


@workflow
async def each_int(orders: list[Any], effects: int) -> int:
    total = 0
    for number in [order["id"] for order in orders]:
        total += await charged(number)
    return total


@workflow
async def each_record(orders: list[Any], effects: int) -> int:
    total = 0
    for order in orders:
        total += await billed(order)
    return total


@workflow
async def append(orders: list[Any], effects: int) -> int:
    done = [{"id": order["id"], "amount": order["amount"]} for order in orders]
    for number in range(effects):
        done.append({"id": number, "amount": await charged(number)})  # noqa: PERF401 - the figure is about append
    return len(done)


@workflow
async def growing_dict(orders: list[Any], effects: int) -> int:
    done = {f"order {order['id']}": order["amount"] for order in orders}
    del orders
    for number in range(effects):
        done[f"new order {number}"] = await charged(number)
    return len(done)


@workflow
async def shared(orders: list[Any], effects: int) -> int:
    index = {order["id"]: order for order in orders}
    for number in range(effects):
        orders.append({"id": -number, "amount": await charged(number)})
        index[-number] = orders[-1]
    return len(index)


@workflow
async def nested(orders: list[Any], effects: int) -> int:
    state: dict[str, Any] = {"orders": orders, "total": 0}
    del orders
    for number in range(effects):
        state["orders"].append({"id": number, "amount": await charged(number)})
        state["total"] += 1
    return len(state["orders"])


@dataclass
class Desk:
    orders: list[dict[str, Any]]
    total: int = 0


@workflow
async def attribute(orders: list[Any], effects: int) -> int:
    desk = Desk(orders)
    del orders
    for number in range(effects):
        desk.orders.append({"id": number, "amount": await charged(number)})
        desk.total += 1
    return len(desk.orders)


@workflow
async def each_key(orders: list[Any], effects: int) -> int:
    found = {f"order {order['id']}": order["amount"] for order in orders}
    del orders
    total = 0
    for key, amount in found.items():
        total += await charged(amount) + len(key)
    return total


@workflow
async def gather_items(orders: list[Any], effects: int) -> int:
    async with parallel(limit=20) as branches:
        for order in orders:
            branches.start(billed(order))
    return len(branches.results) + len(orders)


@workflow
async def text(orders: list[Any], effects: int) -> int:
    report = "one line of a long report, " * (4 * len(orders))
    del orders
    total = 0
    for number in range(effects):
        total += await charged(number)
    return total + len(report)


@workflow
async def parallel20(orders: list[Any], effects: int) -> int:
    async with parallel(limit=20) as branches:
        for order in orders:
            branches.start(charged(order["id"]))
    return len(branches.results)


WORKFLOWS: Mapping[str, Any] = {
    "scope": scope,
    "each_int": each_int,
    "each_record": each_record,
    "append": append,
    "dict": growing_dict,
    "parallel20": parallel20,
    "shared": shared,
    "nested": nested,
    "attribute": attribute,
    "each_key": each_key,
    "gather_items": gather_items,
    "text": text,
}

FIGURES = (
    Figure("growth.scope_100k", f"CPU of an effect with {MANY:,} idle records in scope, over one with {FEW}", 1.5),
    *(
        Figure(f"growth.{name}", f"{what}: slope of the total CPU from {SOME:,} to {MANY:,}", SLOPE_MAX)
        for name, what in (
            ("each_int", "a for loop over numbers"),
            ("each_record", "a for loop over records"),
            ("append", "a list that grows by a record with each effect"),
            ("dict", "a dict that grows with each effect"),
            ("parallel20", "parallel calls, 20 at a time"),
            ("shared", "a dict that refers to the records of a list, both growing"),
            ("nested", "a list in a dict that grows with each effect"),
            ("attribute", "a list in a field that grows with each effect"),
            ("each_key", "a for loop over the items of a dict"),
            ("gather_items", "parallel calls with the records of a list that is still in scope"),
            ("text", "a text of 100 bytes per item that the code does not mention"),
        )
    ),
    *(Figure(f"growth.{name}.us", f"CPU µs of an effect at {MANY:,}") for name in WORKFLOWS),
    Figure("growth.wal_per_effect_b", f"bytes of write-ahead log per effect, a dict of {MANY:,} that grows", 2_000),
)


def measure(effort: Effort) -> Mapping[str, float]:
    cost: dict[tuple[str, int], float] = {}
    log = math.inf
    for name in WORKFLOWS:
        for count in (FEW if name == "scope" else SOME, MANY):
            for _ in range(TURNS):
                with database(POSTGRES) as place:
                    used, written = asyncio.run(_run(place, name, count))
                cost[name, count] = min(cost.get((name, count), used), used)
                if name == "dict" and count == MANY:
                    log = min(log, written)
    found = {"growth.scope_100k": cost["scope", MANY] / cost["scope", FEW], "growth.wal_per_effect_b": log}
    for name in WORKFLOWS:
        found[f"growth.{name}.us"] = cost[name, MANY] * MICROSECONDS
        if name != "scope":
            found[f"growth.{name}"] = 1 + math.log(cost[name, MANY] / cost[name, SOME]) / math.log(MANY / SOME)
    return found


class Meter:
    """CPU and written log between two commits of a workflow."""

    def __init__(self, here: World) -> None:
        self._here = here
        self._commit = here.store.commit
        self._done = 0
        self._begun: tuple[float, dict[int, float], int] | None = None
        self.result: asyncio.Future[tuple[float, float]] = asyncio.get_running_loop().create_future()

    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        outcomes = await self._commit(batch)
        self._done += sum(len(commit.effects_consumed) for commit in batch)
        if self._begun is None and self._done >= SKIPPED:
            self._begun, self._done = await self._now(), 0
        elif self._begun is not None and self._done >= EFFECTS and not self.result.done():
            used, backends, written = await self._now()
            begun, before, position = self._begun
            cpu = used - begun + sum(at - before.get(pid, 0.0) for pid, at in backends.items())
            self.result.set_result((cpu / self._done, (written - position) / self._done))
        return outcomes

    async def _now(self) -> tuple[float, dict[int, float], int]:
        processor = self._here.processor
        return time.process_time(), await processor.backends(), await processor.log_position()


async def _run(place: Database, name: str, count: int) -> tuple[float, float]:
    """CPU seconds and bytes of write-ahead log of one effect."""
    async with world(place) as here:
        meter = Meter(here)
        here.store.commit = meter.commit  # type: ignore[method-assign]  # to read the meters between two commits
        inputs = {"orders": records(count), "effects": EFFECTS + 2 * SKIPPED}
        answer = await here.runtime.start(WORKFLOWS[name], inputs)
        assert answer.result is not None
        found = await meter.result
        await here.runtime.cancel(answer.result.instance_id)
    return found


GROUP = Group("growth of state", FIGURES, measure)
