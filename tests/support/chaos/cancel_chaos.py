"""Chaos test of cancellation: a node without a worker cancels sagas at random moments while the workers that run them are killed.

The log of each saga must show that nothing is undone before the work has ended, that every finalizer that began has ended, and
that compensations ran in reverse order. An effect repeats only if its process was killed.

Cancels and kills are paced by the log, not by time: a saga is canceled after a random number of its lines, and a worker is
killed after every so many lines, while it runs an effect.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from holdfast.engine import Holdfast
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.instance import Status
from holdfast.persistence import store_from_url
from holdfast.runtime.effects.poison import LOST_MAX
from holdfast.testing.worker_process import WorkerProcess
from tests.support.chaos.cancel_workflows import (
    LOG,
    QUEUE,
    UNDOS,
    WORKS,
    Line,
    perform,
    read,
    read_from,
    saga,
    write,
)
from tests.support.chaos.cluster_driver import AT_ONCE, all_at_rest, patiently, start
from tests.support.environment import child_environment
from tests.support.worker_group import LOOK, keep_alive

TENANT = "cancels"
MODULE = "tests.support.chaos.cancel_workflows"
ALIVE = timedelta(seconds=3)
SAGA_LINES = 2 * (len(WORKS) + 3)
"""Lines that a saga writes if it is not canceled: each call begins and ends."""
KILL_LINES = 2
"""Lines per saga that are certain to come, as a measure for the pace of kills."""
END_SECONDS = 300.0
"""After the last kill, everything must have ended within this time."""


async def cancel_chaos(url: str, folder: Path, *, sagas: int, kills: int, workers: int = 3) -> dict[str, Any]:
    """One row: figures, `sound` and `broken`."""
    log = folder / "saga.log"
    milliseconds = int(ALIVE / timedelta(milliseconds=1))
    group = [
        WorkerProcess(
            f"worker-{number}",
            store=url,
            modules=[MODULE],
            arguments=("--tenants", TENANT, "--queues", f"default,{QUEUE}"),
            environment=child_environment(
                **{LOG: str(log)},
                HOLDFAST_NODE_ALIVE=f"{milliseconds}ms",
                HOLDFAST_NODE_SWEEP=f"{milliseconds // 4}ms",
            ),
        )
        for number in range(workers)
    ]
    names = [f"s{number}" for number in range(sagas)]
    engine, store = Holdfast(entry_points=False, activities=[perform]), store_from_url(url)
    os.environ[LOG] = str(
        log
    )  # If no worker runs an effect of a saga, its finalizers begin where the cancel is committed.
    await store.open()
    try:
        async with engine.runtime_on(store, tenant=TENANT, node="driver") as runtime:
            runtime.intake.paused = True  # Everything but asking is the workers'.
            await runtime.definitions.deploy(saga)
            await asyncio.gather(*(worker.start() for worker in group))
            reviving = asyncio.create_task(keep_alive(group))
            lines = LogReader(log)
            driving = asyncio.create_task(_drive(runtime, names, lines))
            killing = asyncio.create_task(kill_workers(group, lines, kills, max(1, KILL_LINES * sagas // (kills + 1))))
            async with asyncio.timeout(END_SECONDS):
                await killing
                await driving
                await all_at_rest(runtime, names)
            reviving.cancel()
            await asyncio.wait([reviving])
            return await _judged(runtime, read(log), names, kills)
    finally:
        del os.environ[LOG]
        for worker in group:
            await worker.close()
        await store.close()
        engine.close()


class LogReader:
    """Follows the log while it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.counts = Counter[str]()
        """Lines of each saga."""
        self.running = Counter[int]()
        """Calls that run in each living process."""
        self._offset = 0

    async def until(self, is_so: Callable[[], bool]) -> None:
        while True:
            self._read()
            if is_so():
                return
            await asyncio.sleep(LOOK)

    async def reach(self, count: int) -> None:
        """Wait until all sagas together have written so many lines."""
        await self.until(lambda: self.counts.total() >= count)

    def _read(self) -> None:
        found, self._offset = read_from(self.path, self._offset)
        for line in found:
            if line.mark == "!":
                del self.running[line.pid]
                continue
            self.counts[line.instance_id] += 1
            self.running[line.pid] += 1 if line.mark == "+" else -1
            self.running += Counter()  # Without processes that run nothing.


async def _drive(runtime: ManagedRuntime, names: Sequence[str], lines: LogReader) -> None:
    async def one(name: str) -> None:
        moment = random.randrange(SAGA_LINES)
        await start(runtime, saga, name)
        await lines.until(lambda: lines.counts[name] >= moment)
        await patiently(lambda: runtime.operators.cancel(name, who="the test"))

    for first in range(0, len(names), AT_ONCE):
        await asyncio.gather(*map(one, names[first : first + AT_ONCE]))


async def kill_workers(group: Sequence[WorkerProcess], lines: LogReader, kills: int, pace: int) -> None:
    """Kill a worker that runs an effect, after each `pace` lines of the log."""
    for number in range(kills):
        await lines.reach(pace * (number + 1))
        await lines.until(lambda: any(_pid(worker) in lines.running for worker in group if worker.is_alive))
        busy = [worker for worker in group if worker.is_alive and _pid(worker) in lines.running]
        worker = random.choice(busy)
        worker.freeze()
        worker.kill()
        write(lines.path, Line("!", _pid(worker)))


def _pid(worker: WorkerProcess) -> int:
    assert worker._process is not None
    return worker._process.pid


async def _judged(runtime: ManagedRuntime, lines: Sequence[Line], names: Sequence[str], kills: int) -> dict[str, Any]:
    broken: list[str] = []
    statuses = Counter[str]()
    for name in names:
        status = (await runtime.read(name)).status
        statuses[status.value] += 1
        broken += [f"{name} ({status}): {each}" for each in findings(name, status, lines)]
        export = await runtime.store.export_instance(TENANT, name)
        assert export is not None
        if export.effects or export.bookmarks:
            broken.append(f"{name}: rows are left")
    return {
        "sagas": len(names),
        "kills": kills,
        "canceled": statuses["canceled"],
        "finished": statuses["finished"],
        "sound": not broken,
        "broken": broken,
    }


def findings(name: str, status: Status, lines: Sequence[Line]) -> list[str]:
    """Broken promises of one saga."""
    found: list[str] = []
    running: dict[tuple[int, str], bool] = {}
    begun, ended = list[str](), set[str]()
    killed = {line.pid for line in lines if line.mark == "!"}
    # The end of a call whose process was killed may not be committed, so it may run again.
    again = Counter(line.what for line in lines if line.instance_id == name and line.mark == "+" and line.pid in killed)
    for line in lines:
        if line.mark == "!":
            for key in [key for key in running if key[0] == line.pid]:
                del running[key]
        elif line.instance_id != name:
            continue
        elif line.mark == "-":
            running.pop((line.pid, line.what), None)
            ended.add(line.what)
        else:
            if line.what in (*UNDOS, "tidy") and running:
                found.append(f"{line.what} began while {sorted(what for _, what in running)} ran")
            running[line.pid, line.what] = True
            begun.append(line.what)
    counts = Counter(begun)
    found += [f"{what} ran {count} times" for what, count in counts.items() if count > 1 + again[what]]
    # An effect that lost its process too often counts as poison and fails (rule H15). This test kills busy workers only.
    found += [
        f"{what} did not end"
        for what in (*UNDOS, "tidy")
        if what in counts and what not in ended and again[what] <= LOST_MAX
    ]
    order = [what for what in dict.fromkeys(begun) if what in UNDOS]
    if order != [what for what in UNDOS if what in order]:
        found.append(f"undone in the order {order}")
    if status is Status.CANCELED:
        late = WORKS.index(order[0].removeprefix("undo-")) if order else -1
        expected = [f"undo-{what}" for what in reversed(WORKS[: late + 1])]
        if order != expected:
            found.append(f"undone: {order}")
        if "pay" in ended and "undo-c" not in order:
            found.append("c is not undone")
        if "pay" in counts and "tidy" not in counts:
            found.append("tidy did not run")
    elif status is not Status.FINISHED or order:
        found.append("neither canceled nor finished without an undo")
    return found
