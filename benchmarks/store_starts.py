"""Durable workflows of ten activities, from start to commit, against one commit per step and against bare inserts.

Holdfast runs `Runtime.start` with default settings: it returns after the fsync. The baselines are in `store_baselines.py`; all
take turns on one database.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from benchmarks import store_turns as turns
from benchmarks.figures import Effort, Figure, Group
from benchmarks.rounds import MICROSECONDS
from benchmarks.store_baselines import (
    BATCH,
    CONNECTIONS,
    PostgresFloor,
    PostgresInsert,
    PostgresSteps,
    Sizes,
    SqliteBaselines,
    sizes_of,
)
from benchmarks.store_databases import KINDS, POSTGRES, World, connections, database, world
from benchmarks.store_turns import (
    Measure,
    Sample,
    Samples,
    Turn,
    best_rate,
    in_flight,
    in_pairs,
    in_thread,
    least_cpu,
    least_middle,
    middle_ratio,
)
from holdfast import Status, Workflow, expr
from holdfast.activities import Sequence, SetVariable

IN_FLIGHT = (1, 64, 512)
GOALS = {1: 6, 64: 25, 512: 30}
STEPS = 10

Others = tuple[dict[str, Turn], Callable[[], Awaitable[float]]]
"""The baselines, and a bare insert that returns its duration."""


def ten_activities() -> Workflow:
    return Workflow(
        Sequence(*(SetVariable("x", expr("x + 1")) for _ in range(STEPS))),
        id="bench-ten",
        name="Ten activities",
        variables={"x": 0},
    )


def figures_of(kind: str) -> tuple[Figure, ...]:
    promised = kind == POSTGRES
    goal = {key: value if promised else None for key, value in GOALS.items()}
    return (
        *(
            Figure(
                f"store.{kind}.per_step_ratio.{many}",
                f"durable workflows of ten activities over one commit per step, {many} in flight",
                goal[many],
                at_least=True,
            )
            for many in IN_FLIGHT
        ),
        Figure(
            f"store.{kind}.floor_fraction",
            "share of the rate of a raw batched insert of the same two rows, 512 in flight",
            0.5 if promised else None,
            at_least=True,
        ),
        Figure(
            f"store.{kind}.cpu_us_per_workflow",
            "CPU µs of Python and database for ten activities, 512 in flight",
            55 if promised else None,
        ),
        Figure(f"store.{kind}.cpu_us_per_workflow.python", "the part of Python in it"),
        Figure(
            f"store.{kind}.p50_vs_insert",
            "one workflow alone over a bare one-row insert, medians",
            1.6 if promised else None,
        ),
        Figure(f"store.{kind}.p50_ms", "the median of one workflow alone, ms"),
        *(Figure(f"store.{kind}.workflows_per_s.{many}", f"rate of Holdfast, {many} in flight") for many in IN_FLIGHT),
        Figure(f"store.{kind}.workflows_per_s.step", "the best rate of one commit per step, with any number in flight"),
        Figure(f"store.{kind}.workflows_per_s.floor", "the rate of the raw insert"),
    )


def _measuring(kind: str) -> Measure:
    return lambda effort: measure(effort, kind)


def measure(effort: Effort, kind: str) -> Mapping[str, float]:
    with database(kind) as place:

        async def all_turns() -> Samples:
            async with world(place) as here, contenders(here) as them:
                return await turns.take_turns(them, turns.rounds_of(effort.rounds))

        samples = asyncio.run(all_turns())
    return _figures(kind, samples)


@asynccontextmanager
async def contenders(here: World) -> AsyncIterator[dict[str, Turn]]:
    workflow, runtime = ten_activities(), here.runtime

    async def start(which: int) -> None:
        answer = await runtime.start(workflow)
        assert answer.result is not None
        assert answer.result.status is Status.FINISHED

    for _ in range(20):
        await start(0)
    mine = {f"ours {many}": in_flight(start, many, here.processor) for many in IN_FLIGHT}
    async with _postgres(here) if here.database.kind == POSTGRES else _sqlite(here) as (others, insert):
        yield mine | others | {"alone": in_pairs(start, insert)}


async def _sizes(here: World) -> Sizes:
    answer = await here.runtime.start(ten_activities())
    assert answer.result is not None
    return await sizes_of(here.store, await here.runtime.row(answer.result.instance_id))


@asynccontextmanager
async def _postgres(here: World) -> AsyncIterator[Others]:
    sizes = await _sizes(here)
    opened = await connections(here.database, CONNECTIONS)
    steps, insert = PostgresSteps(opened, sizes), PostgresInsert(opened[0])
    await insert.open()
    cpu = here.processor
    try:
        steps_at = {f"step {many}": in_flight(steps, many, cpu) for many in IN_FLIGHT}
        yield steps_at | {"floor": in_flight(PostgresFloor(opened[0], sizes), 1, cpu)}, insert.timed
    finally:
        for connection in opened:
            await connection.close()


@asynccontextmanager
async def _sqlite(here: World) -> AsyncIterator[Others]:
    sizes = await _sizes(here)
    bare = SqliteBaselines(here.database, sizes)
    step = in_thread(bare.steps)
    try:
        yield (
            {f"step {many}": step for many in IN_FLIGHT} | {"floor": in_thread(bare.floor)},
            lambda: asyncio.to_thread(bare.timed_insert),
        )
    finally:
        bare.close()


def _figures(kind: str, samples: Samples) -> dict[str, float]:
    rates = {name: best_rate(found) for name, found in samples.items()}
    if kind == POSTGRES:
        rates["floor"] *= BATCH
    cheapest: Sample = least_cpu(samples["ours 512"])
    return {
        **{f"store.{kind}.per_step_ratio.{many}": rates[f"ours {many}"] / rates[f"step {many}"] for many in IN_FLIGHT},
        f"store.{kind}.floor_fraction": rates["ours 512"] / rates["floor"],
        f"store.{kind}.cpu_us_per_workflow": cheapest.cpu / cheapest.done * MICROSECONDS,
        f"store.{kind}.cpu_us_per_workflow.python": cheapest.python / cheapest.done * MICROSECONDS,
        f"store.{kind}.p50_vs_insert": middle_ratio(samples["alone"]),
        f"store.{kind}.p50_ms": least_middle(samples["alone"]) * 1000,
        **{f"store.{kind}.workflows_per_s.{many}": rates[f"ours {many}"] for many in IN_FLIGHT},
        f"store.{kind}.workflows_per_s.step": max(rates[f"step {many}"] for many in IN_FLIGHT),
        f"store.{kind}.workflows_per_s.floor": rates["floor"],
    }


GROUPS = tuple(Group(f"store starts, {kind}", figures_of(kind), _measuring(kind)) for kind in KINDS)
