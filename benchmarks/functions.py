"""User functions as activities: pure functions inside the segment, effects outside it, without a store."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from benchmarks import holdfast_engine
from benchmarks.figures import Effort, Figure, Group
from benchmarks.rounds import MICROSECONDS, Clock, Turn, awaited, repeated, run_rounds
from holdfast import Holdfast, Workflow, activity, expr
from holdfast.activities import Parallel, Sequence

PURE_STEPS = 200
ASYNC_STEPS = 50
THREAD_STEPS = 20

FIGURES = (
    Figure("engine.us_per_user_sync", "µs for a `pure=True` function as activity", 1.2),
    Figure("engine.us_per_user_async", "µs for a `pure=True` async function that does not wait", 1.5),
    Figure("engine.us_per_effect_async", "µs for an async effect that does nothing (a task), one after the other", 15),
    Figure("engine.us_per_effect_sync", "µs for a sync effect that does nothing (a thread), one after the other", 250),
    Figure("engine.us_per_effect_async.parallel", "µs for the same async effect, 50 running at once"),
)


@activity(pure=True)
def raised(level: int) -> int:
    return level + 1


@activity(pure=True)
async def raised_async(level: int) -> int:
    return level + 1


@activity
async def nothing_async() -> None:
    return None


@activity
def nothing() -> None:
    return None


def measure(effort: Effort) -> Mapping[str, float]:
    holdfast = holdfast_engine.engine()
    contenders = {
        "engine.us_per_user_sync": _pure(holdfast, raised),
        "engine.us_per_user_async": _pure(holdfast, raised_async),
        "engine.us_per_effect_async": _effects(holdfast, nothing_async, ASYNC_STEPS, times=2, clock=time.process_time),
        "engine.us_per_effect_sync": _effects(holdfast, nothing, THREAD_STEPS, times=2, clock=time.perf_counter),
        "engine.us_per_effect_async.parallel": _parallel(holdfast),
    }
    try:
        best = run_rounds(contenders, effort.rounds)
    finally:
        holdfast.close()
    return {name: seconds * MICROSECONDS for name, seconds in best.items()}


def _pure(holdfast: Holdfast, function: Any) -> Turn:
    steps = [function.bind(level=expr("level"), result="level") for _ in range(PURE_STEPS)]
    burst = holdfast_engine.bursts(holdfast, Workflow(Sequence(*steps), variables={"level": 0}))
    live = burst()
    assert live.root.scope[live.root.scope[1].names["level"]] == PURE_STEPS
    return repeated(burst, times=10, units=PURE_STEPS)


def _effects(holdfast: Holdfast, function: Any, steps: int, *, times: int, clock: Clock) -> Turn:
    workflow = Workflow(Sequence(*(function.bind() for _ in range(steps))))
    return awaited(partial(holdfast.runner.run, workflow), times=times, units=steps, clock=clock)


def _parallel(holdfast: Holdfast) -> Turn:
    workflow = Workflow(Parallel(*(nothing_async.bind() for _ in range(ASYNC_STEPS))))
    return awaited(partial(holdfast.runner.run, workflow), times=2, units=ASYNC_STEPS, clock=time.process_time)


GROUP = Group("functions", FIGURES, measure)
