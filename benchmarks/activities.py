"""Built-in activities against the naive loop, on the same three workloads."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from benchmarks import holdfast_engine, naive
from benchmarks.figures import Effort, Figure, Group
from benchmarks.rounds import MICROSECONDS, Turn, awaited, repeated, run_rounds
from benchmarks.workloads import Workload, as_holdfast, flow20, foreach, seq10

WORKLOADS = (seq10(), flow20(), foreach())

FIGURES = (
    Figure("engine.us_per_activity", "µs for a built-in activity, best of three workloads", 0.9),
    *(
        Figure(
            f"engine.us_per_activity.{load.name}", f"the same, workload `{load.name}` ({load.activities} activities)"
        )
        for load in WORKLOADS
    ),
    Figure(
        "engine.naive_ratio",
        "naive asynchronous loop over Holdfast, on the workload of the best figure",
        12,
        at_least=True,
    ),
    *(Figure(f"engine.naive_ratio.{load.name}", f"the same, workload `{load.name}`") for load in WORKLOADS),
    Figure("engine.us_per_instance", "µs to start and end an instance of an empty sequence"),
)


def measure(effort: Effort) -> Mapping[str, float]:
    holdfast = holdfast_engine.engine()
    contenders: dict[str, Turn] = {}
    for load in WORKLOADS:
        burst = holdfast_engine.bursts(holdfast, as_holdfast(load))
        root = naive.built(load)
        _check_same_work(load, burst(), asyncio.run(naive.Run(root, load.variables).to_the_end()))
        contenders[f"ours {load.name}"] = repeated(burst, times=load.repetitions, units=load.activities)
        once = partial(_run_naive, root, load.variables)
        times = max(1, load.repetitions // 8)
        contenders[f"naive {load.name}"] = awaited(once, times=times, units=load.activities, clock=time.process_time)
    empty = holdfast_engine.bursts(holdfast, as_holdfast(_empty()))
    contenders["start"] = repeated(empty, times=500)
    return _figures(run_rounds(contenders, effort.rounds))


def _empty() -> Workload:
    load = seq10()
    return Workload("empty", type(load.root)("sequence"), {"count": 0})


async def _run_naive(root: naive.NaiveActivity, variables: dict[str, Any]) -> None:
    await naive.Run(root, variables).to_the_end()


def _check_same_work(load: Workload, live: Any, run: naive.Run) -> None:
    scope = live.root.scope
    found = {name: scope[slot] for name, slot in scope[1].names.items()}
    assert found == run.variables, f"{load.name}: the contenders computed different values."
    assert live.sequence - 1 == load.activities, f"{load.name}: {live.sequence - 1} activities ran."
    assert len(run.journal) == 2 * load.activities, (
        f"{load.name}: the naive loop ran {len(run.journal) // 2} activities."
    )


def _figures(best: Mapping[str, float]) -> dict[str, float]:
    costs = {load.name: best[f"ours {load.name}"] * MICROSECONDS for load in WORKLOADS}
    ratios = {load.name: best[f"naive {load.name}"] / best[f"ours {load.name}"] for load in WORKLOADS}
    least = min(costs, key=lambda name: costs[name])
    return {
        "engine.us_per_activity": costs[least],
        **{f"engine.us_per_activity.{name}": cost for name, cost in costs.items()},
        "engine.naive_ratio": ratios[least],
        **{f"engine.naive_ratio.{name}": ratio for name, ratio in ratios.items()},
        "engine.us_per_instance": best["start"] * MICROSECONDS,
    }


GROUP = Group("activities", FIGURES, measure)
