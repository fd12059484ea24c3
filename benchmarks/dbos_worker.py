"""Worker in the environment `.bench/dbos`: runs one turn for each line on stdin. Started by `dbos_ratio.py`.

Ten steps that do nothing, as a workflow of plain functions in threads and as a workflow of coroutines.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any

if "sqlite" in sys.argv[1]:  # DBOS needs a newer SQLite than many systems have; the wheel brings one
    import pysqlite3  # type: ignore[import-not-found]  # installed in its own environment
    import pysqlite3.dbapi2  # type: ignore[import-not-found]  # the same

    sys.modules["sqlite3"] = pysqlite3
    sys.modules["sqlite3.dbapi2"] = pysqlite3.dbapi2

from dbos import DBOS  # type: ignore[import-not-found]  # the same

STEPS = 10
POOL = 20


@DBOS.step()  # type: ignore[untyped-decorator]  # its types are in the other environment
def step(number: int) -> int:
    return number + 1


@DBOS.step()  # type: ignore[untyped-decorator]  # the same
async def step_async(number: int) -> int:
    return number + 1


@DBOS.workflow()  # type: ignore[untyped-decorator]  # the same
def ten_steps(which: int) -> int:
    number = 0
    for _ in range(STEPS):
        number = step(number)
    return number


@DBOS.workflow()  # type: ignore[untyped-decorator]  # the same
async def ten_steps_async(which: int) -> int:
    number = 0
    for _ in range(STEPS):
        number = await step_async(number)
    return number


def in_threads(many: int, seconds: float) -> int:
    until, which, done = time.perf_counter() + seconds, itertools.count(), itertools.count()

    def work() -> None:
        while time.perf_counter() < until:
            assert ten_steps(next(which)) == STEPS
            next(done)

    threads = [threading.Thread(target=work) for _ in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return next(done)


async def in_tasks(many: int, seconds: float) -> int:
    until, which, done = time.perf_counter() + seconds, itertools.count(), itertools.count()

    async def work() -> None:
        while time.perf_counter() < until:
            assert await ten_steps_async(next(which)) == STEPS
            next(done)

    await asyncio.gather(*(work() for _ in range(many)))
    return next(done)


def turn(how: str, many: int, seconds: float, run: Callable[[Coroutine[Any, Any, int]], int]) -> dict[str, float]:
    """Workflows, seconds, CPU seconds of this process."""
    begin, used = time.perf_counter(), time.process_time()
    count = in_threads(many, seconds) if how == "threads" else run(in_tasks(many, seconds))
    return {"count": count, "wall": time.perf_counter() - begin, "cpu": time.process_time() - used}


def loop_of_its_own() -> Callable[[Coroutine[Any, Any, int]], int]:
    """One event loop for all turns: the asynchronous part of DBOS does not survive its first loop."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def run(work: Coroutine[Any, Any, int]) -> int:
        found: Future[int] = asyncio.run_coroutine_threadsafe(work, loop)
        return found.result()

    return run


def main(url: str) -> None:
    quiet = {"log_level": "ERROR", "console_log_level": "ERROR"}
    DBOS(config={"name": "bench", "system_database_url": url, "sys_db_pool_size": POOL, **quiet})
    DBOS.launch()
    run = loop_of_its_own()
    turn("threads", 1, 0.2, run)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(turn(asked["how"], asked["many"], asked["seconds"], run)), flush=True)
    sys.stdout.flush()
    os._exit(0)  # otherwise it waits for its own threads


if __name__ == "__main__":
    main(sys.argv[1])
