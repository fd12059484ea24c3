"""Growth of a long-lived instance: ForEach over 10,000 effects, the last tenth over the first.

Every effect is recorded and committed before it runs, and its result after: ten thousand commits of one instance. Neither the
time between two commits nor the bytes of each (state, journal, rows) may grow with the number of completed iterations.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from benchmarks.figures import Effort, Figure, Group
from benchmarks.store_databases import SQLITE, Database, database, world
from holdfast import Status, Workflow, activity, expr
from holdfast.activities import ForEach
from holdfast.model.commit import Commit, CommitOutcome
from holdfast.ports import Store

ITEMS = 10_000
RUNS = 3
RUNS_SECONDS_MAX = 60.0
"""No further run starts after this many seconds."""

FIGURES = (
    Figure(
        "store.effects_growth",
        f"ForEach over {ITEMS:,} effects: last tenth over first, the worse of time and bytes",
        1.5,
    ),
    Figure("store.effects_growth.time", "the same, time alone"),
    Figure("store.effects_growth.bytes", "the same, committed bytes alone"),
    Figure("store.effects_growth.us", "µs for one of these effects with its two commits, on average"),
    Figure("store.effects_growth.bytes_each", "committed bytes per effect, on average"),
)


@activity
async def handled(item: int) -> int:
    return item + 1


class Watched:
    """Records the time and size of each commit."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.perf_counter) -> None:
        self._commit = store.commit
        self._clock = clock
        self.times: list[float] = []
        self.sizes: list[int] = []

    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        outcomes = await self._commit(batch)
        self.times.append(self._clock())
        self.sizes.append(sum(map(_size, batch)))
        return outcomes


def _size(commit: Commit) -> int:
    return (
        (len(commit.instance.state) if commit.instance is not None else 0)
        + (len(commit.journal.data) if commit.journal is not None else 0)
        + sum(len(row.data) for row in commit.values_added)
        + sum(len(row.inputs) for row in commit.effects_added)
    )


def measure(effort: Effort) -> Mapping[str, float]:
    began = time.perf_counter()
    runs: list[Watched] = []
    while not runs or (len(runs) < RUNS and time.perf_counter() - began < RUNS_SECONDS_MAX):
        with database(SQLITE) as place:
            runs.append(asyncio.run(_run(place)))
    tenth = ITEMS // 10
    first = min(run.times[tenth] - run.times[0] for run in runs)
    last = min(run.times[-1] - run.times[-1 - tenth] for run in runs)
    sizes = runs[0].sizes
    of_time, of_bytes = last / first, sum(sizes[-tenth:]) / sum(sizes[1 : tenth + 1])
    return {
        "store.effects_growth": max(of_time, of_bytes),
        "store.effects_growth.time": of_time,
        "store.effects_growth.bytes": of_bytes,
        "store.effects_growth.us": min(run.times[-1] - run.times[0] for run in runs) / ITEMS * 1_000_000,
        "store.effects_growth.bytes_each": sum(sizes) / ITEMS,
    }


async def _run(place: Database) -> Watched:
    workflow = Workflow(
        ForEach(expr("numbers"), handled.bind(expr("CurrentValue"), result="last")),
        id="bench-effects",
        variables={"numbers": list(range(ITEMS)), "last": 0},
    )
    async with world(place) as here:
        watched = Watched(here.store)
        here.store.commit = watched.commit  # type: ignore[method-assign]  # to record the commits
        answer = await here.runtime.start(workflow)
        assert answer.result is not None
        ended = await here.runtime.settle(answer.result.instance_id)
        assert ended.status is Status.FINISHED
    assert len(watched.times) > ITEMS, f"{len(watched.times)} commits for {ITEMS} effects."
    return watched


GROUP = Group("store effects", FIGURES, measure)
