"""Turns of contenders that wait for I/O: a fixed amount of work in flight for a while, with rate, CPU and median per turn.

Contenders take turns in one run. The best turn counts for rates, and the lowest for costs. Garbage collection stays on, as it
does on a node.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from benchmarks.figures import Effort
from benchmarks.store_databases import Processor

SECONDS = 0.7


class Sample(NamedTuple):
    done: int
    wall: float
    cpu: float = 0.0
    """Python and database together."""
    middle: float = 0.0
    """Median seconds of one."""
    python: float = 0.0
    """The share of this process in `cpu`."""
    ratio: float = 0.0
    """Ratio of `middle` to that of the other contender in the same turn."""

    @property
    def rate(self) -> float:
        return self.done / self.wall


Work = Callable[[int], Awaitable[object]]
"""Does one unit of work; receives the index of its slot in flight."""
Turn = Callable[[], Awaitable[Sample]]
Measure = Callable[[Effort], Mapping[str, float]]
Samples = Mapping[str, Sequence[Sample]]


async def take_turns(contenders: Mapping[str, Turn], rounds: int) -> dict[str, list[Sample]]:
    taken: dict[str, list[Sample]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, turn in contenders.items():
            gc.collect()
            taken[name].append(await turn())
    return taken


def rounds_of(asked: int) -> int:
    """A fifth of the rounds, because these turns last most of a second instead of milliseconds."""
    return max(3, asked // 5)


def best_rate(samples: Sequence[Sample]) -> float:
    return max(sample.rate for sample in samples)


def least_cpu(samples: Sequence[Sample]) -> Sample:
    """The turn with the least CPU per unit."""
    return min(samples, key=lambda sample: sample.cpu / sample.done)


def least_middle(samples: Sequence[Sample]) -> float:
    return min(sample.middle for sample in samples)


def middle_ratio(samples: Sequence[Sample]) -> float:
    """For shared turns: neither side can be lucky alone, so the median counts."""
    return median(sample.ratio for sample in samples)


def in_flight(work: Work, many: int, processor: Processor, seconds: float = SECONDS) -> Turn:
    """A turn that keeps this many units in flight and counts completed ones."""

    async def turn() -> Sample:
        times: list[float] = []
        before, used = await processor.backends(), time.process_time()
        begin = time.perf_counter()
        until = begin + seconds

        async def one_after_the_other(which: int) -> None:
            while (now := time.perf_counter()) < until:
                await work(which)
                times.append(time.perf_counter() - now)

        if many == 1:
            await one_after_the_other(0)
        else:
            await asyncio.gather(*(one_after_the_other(which) for which in range(many)))
        wall = time.perf_counter() - begin
        python = time.process_time() - used
        after = await processor.backends()
        served = sum(spent - before.get(pid, 0.0) for pid, spent in after.items())
        return Sample(len(times), wall, python + served, median(times), python)

    return turn


def in_pairs(work: Work, bare: Callable[[], Awaitable[float]], seconds: float = SECONDS) -> Turn:
    """A turn that alternates Holdfast and the baseline, since both wait for the same disk: `ratio` of the medians."""

    async def turn() -> Sample:
        times: list[float] = []
        others: list[float] = []
        begin = time.perf_counter()
        while (now := time.perf_counter()) < begin + seconds:
            await work(0)
            times.append(time.perf_counter() - now)
            others.append(await bare())
        return Sample(
            len(times), time.perf_counter() - begin, middle=median(times), ratio=median(times) / median(others)
        )

    return turn


def in_thread(work: Callable[[], int], seconds: float = SECONDS) -> Turn:
    """A turn of blocking work; each call returns the number of completed units. Nothing else runs meanwhile."""

    async def turn() -> Sample:
        return await asyncio.to_thread(_repeat, work, seconds)

    return turn


def _repeat(work: Callable[[], int], seconds: float) -> Sample:
    times: list[float] = []
    count, begin, used = 0, time.perf_counter(), time.process_time()
    while (now := time.perf_counter()) < begin + seconds:
        count += work()
        times.append(time.perf_counter() - now)
    return Sample(count, time.perf_counter() - begin, time.process_time() - used, median(times))
