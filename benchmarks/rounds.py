"""Fair rounds: all contenders take turns in one run, and each is judged by its best turn.

The machines that this runs on are shared and noisy, so a mean measures the neighbours. The best of many turns comes close
to what the code costs, and a ratio of two contenders that took turns holds even when the whole run was slow. Work that
never waits is measured in CPU time of the process, which on an idle machine is the time on the wall; work that waits for
threads or other processes is measured on the wall.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager

Turn = Callable[[], Awaitable[float]]
"""One turn of a contender; gives the seconds for one unit of its work."""

Clock = Callable[[], float]

MICROSECONDS = 1_000_000


@contextmanager
def undisturbed() -> Iterator[None]:
    """No garbage collection inside, all of it before."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def best_of(contenders: Mapping[str, Turn], rounds: int) -> dict[str, float]:
    """Seconds per unit, the least of all turns."""
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, turn in contenders.items():
            with undisturbed():
                seconds = await turn()
            best[name] = min(seconds, best.get(name, seconds))
    return best


def repeated(work: Callable[[], object], *, times: int, units: int = 1) -> Turn:
    """A turn that does synchronous work several times; CPU time."""

    async def turn() -> float:
        work()  # what the collector has put out of the caches comes back
        begin = time.process_time()
        for _ in range(times):
            work()
        return (time.process_time() - begin) / (times * units)

    return turn


def awaited(
    work: Callable[[], Awaitable[object]], *, times: int, units: int = 1, clock: Clock = time.perf_counter
) -> Turn:
    """A turn that awaits work several times, one after the other; time on the wall, unless it never waits."""

    async def turn() -> float:
        await work()
        begin = clock()
        for _ in range(times):
            await work()
        return (clock() - begin) / (times * units)

    return turn


def run_rounds(contenders: Mapping[str, Turn], rounds: int) -> dict[str, float]:
    return asyncio.run(best_of(contenders, rounds))
