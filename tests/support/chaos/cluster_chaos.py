"""Chaos test of a cluster: workers are killed one after the other, the broker restarts, and every instance ends exactly once.

The driver (`cluster_driver`) sends requests, workers run them, and a killed worker is restarted. A worker is frozen before it is
killed, and its running effects are counted: only calls of these effects may repeat. `cluster_report` checks the outcome.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

from holdfast.engine import Holdfast
from holdfast.management.runtime import ManagedRuntime
from holdfast.persistence import store_from_url
from holdfast.ports import Store
from holdfast.testing.worker_process import WorkerProcess
from tests.support.chaos.cluster_driver import all_at_rest, drive_cases, drive_orders, patiently
from tests.support.chaos.cluster_report import ClusterReport, Kill, Open, report
from tests.support.chaos.cluster_workflows import LEDGER, QUEUE, Ledger, book, case, item, order
from tests.support.environment import child_environment
from tests.support.worker_group import keep_alive, ready

TENANT = "cluster"
MODULE = "tests.support.chaos.cluster_workflows"
PATIENCE = 600.0
"""Seconds after the last kill until everything must have ended."""
STARTING = 5.0
"""Seconds that a kill waits for those who should work: on a busy machine they would all be killed while they start."""
Restart = Callable[[], Awaitable[None]]


class Cluster:
    def __init__(self, url: str, folder: Path, *, workers: int, transport: str, alive: timedelta) -> None:
        self.ledger = Ledger(folder)
        milliseconds = int(alive / timedelta(milliseconds=1))
        self.workers = [
            WorkerProcess(
                f"worker-{number}",
                store=url,
                modules=[MODULE],
                arguments=("--tenants", TENANT, "--queues", f"default,{QUEUE}", "--transport", transport),
                environment=child_environment(
                    **{LEDGER: str(folder)},
                    HOLDFAST_NODE_ALIVE=f"{milliseconds}ms",
                    HOLDFAST_NODE_SWEEP=f"{milliseconds // 4}ms",
                ),
            )
            for number in range(workers)
        ]
        self.kills: list[Kill] = []
        self._counted: set[Open] = set()

    async def kill_one(self, store: Store, *, calm: bool = False) -> None:
        """One that works, or whichever lives if none does in time. Frozen first: what it has in hand then is all that may have
        to be done again."""
        await ready(self.workers, len(self.workers) if calm else 1, STARTING)
        alive = [item for item in self.workers if item.is_alive]
        if not alive:
            return
        worker = random.choice([item for item in alive if item.is_ready] or alive)
        worker.freeze()
        node = worker.name
        owners = [row.owner for row in await patiently(store.list_nodes) if row.id == node]
        owned = [row for owner in owners for row in await patiently(lambda: store.effects_owned(owner))]  # noqa: B023 - asked at once
        worker.kill()
        # One that was killed while it started had nothing yet: what its name owns was counted when its last life ended.
        fresh = {(row.instance_id, row.execution, row.attempt) for row in owned} - self._counted
        self._counted |= fresh
        self.kills.append(Kill(node, datetime.now(UTC), tuple(sorted(fresh)), calm=calm))


async def cluster_chaos(
    url: str,
    folder: Path,
    *,
    instances: int,
    kills: int,
    workers: int = 3,
    transport: str = "database",
    every: timedelta = timedelta(seconds=1),
    alive: timedelta = timedelta(seconds=3),
    restart_broker: Restart | None = None,
    calm_kills: int = 0,
) -> ClusterReport:
    """Kill a worker every so often, until `kills` are reached; restart the broker once, half-way. Then kill some with the others
    well and time enough to take over: that is what is promised of a takeover. One in ten instances is a case, the others are
    orders."""
    begun = monotonic()
    cluster = Cluster(url, folder, workers=workers, transport=transport, alive=alive)
    orders = [f"o{number}" for number in range(instances - instances // 10)]
    cases = [f"c{number}" for number in range(instances // 10)]
    engine = Holdfast(entry_points=False, activities=[book], definitions=[item])
    store = store_from_url(url)
    await store.open()
    try:
        async with engine.runtime_on(store, tenant=TENANT, node="driver") as runtime:
            runtime.intake.paused = True  # Everything but asking is the workers'.
            for workflow in (item, order, case):
                await runtime.definitions.deploy(workflow)
            await asyncio.gather(*(worker.start() for worker in cluster.workers))
            reviving = asyncio.create_task(keep_alive(cluster.workers))
            driving = [
                asyncio.create_task(drive_orders(runtime, orders)),
                asyncio.create_task(drive_cases(runtime, cases)),
            ]
            restarts = await _fire(cluster, store, kills, every, restart_broker)
            await _calmly(cluster, store, calm_kills, alive * 2)
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*driving)
                await all_at_rest(runtime, [*orders, *cases])
            reviving.cancel()
            await asyncio.wait([reviving])
            return await _judged(runtime, cluster, orders, cases, restarts, monotonic() - begun)
    finally:
        for worker in cluster.workers:
            await worker.close()
        await store.close()
        engine.close()


async def _fire(cluster: Cluster, store: Store, kills: int, every: timedelta, restart: Restart | None) -> int:
    """How often the broker was restarted. Workers are killed while it is away, too."""
    restarting: asyncio.Task[None] | None = None
    while len(cluster.kills) < kills:
        await asyncio.sleep(every.total_seconds())
        await cluster.kill_one(store)
        if restart is not None and restarting is None and len(cluster.kills) > kills // 2:
            restarting = asyncio.ensure_future(restart())
    if restarting is None:
        return 0
    await restarting
    return 1


async def _calmly(cluster: Cluster, store: Store, kills: int, every: timedelta) -> None:
    for _ in range(kills):
        await cluster.kill_one(store, calm=True)
        await asyncio.sleep(every.total_seconds())


async def _judged(
    runtime: ManagedRuntime, cluster: Cluster, orders: list[str], cases: list[str], restarts: int, seconds: float
) -> ClusterReport:
    return await report(
        runtime,
        cluster.ledger,
        orders=orders,
        cases=cases,
        kills=cluster.kills,
        restarts=restarts,
        workers=len(cluster.workers),
        seconds=seconds,
    )
