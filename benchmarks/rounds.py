"""Interleaved rounds: all contenders take turns in one run, and the best turn of each counts.

The machines are shared and noisy, so a mean would measure the neighbours. The best of many turns comes close to the cost of the
code, and the ratio of two interleaved contenders holds even if the whole run was slow. Work that never waits is measured in CPU
time of the process, which equals wall-clock time on an idle machine. Work that waits for threads or other processes is measured
in wall-clock time.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager

Turn = Callable[[], Awaitable[float]]
"""One turn of a contender; returns the seconds for one unit of work."""

Clock = Callable[[], float]

MICROSECONDS = 1_000_000


@contextmanager
def undisturbed() -> Iterator[None]:
    """No garbage collection inside the block; a full collection before it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def best_of(contenders: Mapping[str, Turn], rounds: int) -> dict[str, float]:
    """Seconds per unit: the minimum of all turns."""
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, turn in contenders.items():
            with undisturbed():
                seconds = await turn()
            best[name] = min(seconds, best.get(name, seconds))
    return best


def repeated(work: Callable[[], object], *, times: int, units: int = 1) -> Turn:
    """A turn that repeats synchronous work; measured in CPU time."""

    async def turn() -> float:
        work()  # warm up the caches after the garbage collection
        begin = time.process_time()
        for _ in range(times):
            work()
        return (time.process_time() - begin) / (times * units)

    return turn


def awaited(
    work: Callable[[], Awaitable[object]], *, times: int, units: int = 1, clock: Clock = time.perf_counter
) -> Turn:
    """A turn that awaits work several times in sequence; wall-clock time, unless the work never waits."""

    async def turn() -> float:
        await work()
        begin = clock()
        for _ in range(times):
            await work()
        return (clock() - begin) / (times * units)

    return turn


def run_rounds(contenders: Mapping[str, Turn], rounds: int) -> dict[str, float]:
    return asyncio.run(best_of(contenders, rounds))
