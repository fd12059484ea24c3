"""Groups of worker processes: wait until enough of them are ready, and restart each that dies."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from holdfast.testing.worker_process import WorkerProcess

LOOK = 0.05
"""Seconds between two looks at the workers."""


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
