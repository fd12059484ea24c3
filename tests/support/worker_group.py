"""Groups of worker processes: start them, wait until enough of them are ready, kill one, and restart each that dies."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from datetime import timedelta

from holdfast.testing.worker_process import WorkerProcess
from tests.support.environment import child_environment

LOOK = 0.05
"""Seconds between two looks at the workers."""
STARTING = 5.0
"""Seconds to wait for a worker that can be killed."""


def worker_group(
    url: str, *, tenant: str, module: str, workers: int, alive: timedelta = timedelta(seconds=3)
) -> list[WorkerProcess]:
    """Workers of one tenant that import the module. `alive` is the lease of their nodes."""
    milliseconds = int(alive / timedelta(milliseconds=1))
    environment = child_environment(
        HOLDFAST_NODE_ALIVE=f"{milliseconds}ms", HOLDFAST_NODE_SWEEP=f"{milliseconds // 4}ms"
    )
    return [
        WorkerProcess(
            f"worker-{number}",
            store=url,
            modules=[module],
            arguments=("--tenants", tenant),
            environment=environment,
        )
        for number in range(workers)
    ]


async def kill_one(group: Sequence[WorkerProcess]) -> int:
    """Kill a worker that is ready. Returns the number of workers that were killed."""
    await ready(group, 1, STARTING)
    alive = [worker for worker in group if worker.is_ready]
    if not alive:
        return 0
    random.choice(alive).kill()
    return 1


async def ready(workers: Sequence[WorkerProcess], count: int, within: float) -> bool:
    """Whether `count` workers are ready, or become ready within that many seconds."""
    until = asyncio.get_running_loop().time() + within
    while sum(worker.is_ready for worker in workers) < count:
        if asyncio.get_running_loop().time() > until:
            return False
        await asyncio.sleep(LOOK)
    return True


async def keep_alive(workers: Sequence[WorkerProcess]) -> None:
    """Restart each worker whenever it dies, until canceled."""
    async with asyncio.TaskGroup() as group:
        for worker in workers:
            group.create_task(_revive(worker))


async def _revive(worker: WorkerProcess) -> None:
    while True:
        await worker.ended()
        await worker.start(wait=False)
