"""Workers that are killed while they run orders; afterwards every order has ended once, and the ledger has no hole.

The driver starts orders by dispatch and sends each its event, early or late; workers do the rest. A killed worker is started
again. Calls of an effect that repeat are counted: at most one per kill and open branch may.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from time import monotonic

from msgspec import Struct

from holdfast.engine import Holdfast
from holdfast.errors import HoldfastError
from holdfast.model.instance import JournalEvent, Status
from holdfast.model.requests import DispatchDefinition
from holdfast.model.stored import InstanceKey
from holdfast.persistence import store_from_url
from holdfast.runtime.durable.runtime import Runtime
from holdfast.testing.cluster_work import BRANCHES, LEDGER, OF_ORDER, QUEUE, Ledger, book, item, order
from holdfast.testing.worker_processes import WorkerProcess, keep_alive

TENANT = "cluster"
MODULE = "holdfast.testing.cluster_work"
PATIENCE = 300.0
"""Seconds after the last kill until everything must have ended."""


class ClusterReport(Struct, frozen=True, kw_only=True):
    instances: int
    finished: int
    kills: int
    restarts: int
    """Of the broker."""
    holes: int
    """Entries that the ledger lacks."""
    strangers: int
    """Entries that nobody should have made."""
    repeated_calls: int
    """Calls of an effect beyond the first."""
    excess: int
    """Keys that were called more often than kills explain."""
    ended_twice: int
    """Instances with two ends in their journal."""
    takeovers: int
    dead_letters: int
    takeover_p99_s: float
    """From an effect's first attempt until its next one."""
    seconds: float
    workers: int

    @property
    def sound(self) -> bool:
        return (
            self.finished == self.instances
            and not (self.holes or self.strangers or self.excess or self.ended_twice or self.dead_letters)
            and self.repeated_calls <= self.kills * self.workers * 32 * BRANCHES
        )


class Cluster:
    def __init__(self, url: str, folder: Path, *, workers: int, transport: str, alive: timedelta) -> None:
        self.url = url
        self.ledger = Ledger(folder)
        milliseconds = int(alive / timedelta(milliseconds=1))
        self.workers = [
            WorkerProcess(
                f"worker-{number}",
                store=url,
                modules=[MODULE],
                arguments=("--tenants", TENANT, "--queues", f"default,{QUEUE}", "--transport", transport),
                environment={
                    LEDGER: str(folder),
                    "HOLDFAST_NODE_ALIVE": f"{milliseconds}ms",
                    "HOLDFAST_NODE_SWEEP": f"{milliseconds // 4}ms",
                },
            )
            for number in range(workers)
        ]
        self.kills = 0


async def cluster_chaos(
    url: str,
    folder: Path,
    *,
    instances: int,
    kills: int,
    workers: int = 3,
    transport: str = "database",
    every: timedelta = timedelta(seconds=1),
    alive: timedelta = timedelta(seconds=2),
    restart_broker: Callable[[], Awaitable[None]] | None = None,
) -> ClusterReport:
    """Kill a worker every so often, until `kills` are reached; restart the broker once, half-way."""
    begun = monotonic()
    cluster = Cluster(url, folder, workers=workers, transport=transport, alive=alive)
    engine = Holdfast(entry_points=False, activities=[book], definitions=[item])
    store = store_from_url(url)
    await store.open()
    restarts = 0
    try:
        async with engine.runtime_on(store, tenant=TENANT, node="driver") as runtime:
            runtime.node.gate.paused = True  # Everything but asking is the workers'.
            for workflow in (item, order):
                await runtime.definitions.deploy(workflow)
            await asyncio.gather(*(worker.start() for worker in cluster.workers))
            reviving = asyncio.create_task(keep_alive(cluster.workers))
            names = [f"o{number}" for number in range(instances)]
            driving = asyncio.create_task(_drive(runtime, names))
            for number in range(kills):
                await asyncio.sleep(every.total_seconds())
                random.choice(cluster.workers).kill()
                cluster.kills += 1
                if restart_broker is not None and number == kills // 2:
                    await restart_broker()
                    restarts += 1
            await driving
            async with asyncio.timeout(PATIENCE):
                await _all_at_rest(runtime, names)
            reviving.cancel()
            await asyncio.wait([reviving])
            return await _report(runtime, cluster, names, restarts, monotonic() - begun)
    finally:
        for worker in cluster.workers:
            await worker.close()
        await store.close()
        engine.close()


async def _drive(runtime: Runtime, names: list[str]) -> None:
    """Start each, and pay it: some before it waits for that."""
    for start in range(0, len(names), 20):
        await asyncio.gather(*(_order(runtime, name) for name in names[start : start + 20]))


async def _order(runtime: Runtime, name: str) -> None:
    await _patiently(
        lambda: runtime.dispatcher.dispatch(DispatchDefinition(definition_id=order.definition.id, instance_id=name))
    )
    await _patiently(lambda: runtime.stimuli.event("paid", {}, instance_id=name, idempotency_key=f"paid-{name}"))


async def _patiently(ask: Callable[[], Awaitable[object]]) -> None:
    """Until it is accepted: asking twice is safe, each has an identity."""
    while True:
        try:
            await ask()
            return
        except HoldfastError:
            await asyncio.sleep(0.05)


async def _all_at_rest(runtime: Runtime, names: list[str]) -> None:
    left = set(names)
    while left:
        keys = [InstanceKey(TENANT, name) for name in sorted(left)[:500]]
        rows = (await runtime.node.store.load(keys)).instances
        ended = {key.id for key, row in rows.items() if row.finished is not None}
        left -= ended
        if not ended:
            await asyncio.sleep(0.2)


async def _report(runtime: Runtime, cluster: Cluster, names: list[str], restarts: int, seconds: float) -> ClusterReport:
    store = runtime.node.store
    statuses: Counter[str] = Counter()
    expected: set[str] = set()
    ended_twice = takeovers = 0
    waits: list[float] = []
    for name in names:
        result = await runtime.read(name)
        statuses[result.status] += 1
        expected |= {f"{name}.{what}" for what in OF_ORDER}
        journal = await runtime.journal(name, limit=10_000)
        ended_twice += [entry.event for entry in journal].count(JournalEvent.INSTANCE_FINISHED) != 1
        recorded = {entry.execution_id: entry.at for entry in journal if entry.event is JournalEvent.EFFECT_RECORDED}
        for entry in journal:
            if entry.event is JournalEvent.TAKEN_OVER:
                takeovers += 1
                waits.append((entry.at - recorded[entry.execution_id]).total_seconds())
    entries, calls = cluster.ledger.entries, Counter(cluster.ledger.calls)
    own = {key for key in entries if not key.endswith(".item")}
    items = {key for key in entries if key.endswith(".item")}
    waits.sort()
    return ClusterReport(
        instances=len(names),
        finished=statuses[Status.FINISHED],
        kills=cluster.kills,
        restarts=restarts,
        holes=len(expected - own) + max(0, len(names) - len(items)),
        strangers=len(own - expected) + max(0, len(items) - len(names)),
        repeated_calls=sum(calls.values()) - len(calls),
        excess=sum(count > cluster.kills + 1 for count in calls.values()),
        ended_twice=ended_twice,
        takeovers=takeovers,
        dead_letters=len(await store.list_dead_letters(TENANT)),
        takeover_p99_s=round(waits[int(len(waits) * 0.99)], 3) if waits else 0.0,
        seconds=round(seconds, 1),
        workers=len(cluster.workers),
    )
