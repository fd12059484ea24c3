"""One order from start to end, in a process that dies when it reaches a fault point for the nth time; another process continues.

This covers every gap between two commits: a start that is queued and not begun, an event that is stored and not delivered, an
effect that is claimed and not run, a child whose parent is not yet notified.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from holdfast.engine import Holdfast
from holdfast.errors import InstanceAtRest
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.instance import JournalEvent, Status
from holdfast.model.listing import InstanceQuery
from holdfast.model.requests import DispatchDefinition
from holdfast.persistence import store_from_url
from holdfast.ports import Store
from holdfast.testing.store_process import answer_of
from tests.support.chaos.cluster_workflows import LEDGER, OF_ORDER, QUEUE, Ledger, book, item, order
from tests.support.chaos.processes import start
from tests.support.node import node_of

TENANT = "life"
NAME = "order-1"
ALIVE = timedelta(milliseconds=600)
PATIENCE = 60.0


async def run_order(store: Store, node: str, ledger: str) -> dict[str, Any]:
    """Start the order, or go on with it, and see its end."""
    os.environ[LEDGER] = ledger
    engine = Holdfast(entry_points=False, activities=[book], definitions=[item], node_sweep=ALIVE / 4)
    runtime = engine.runtime_on(store, tenant=TENANT, node=node, queues=("default", QUEUE))
    runtime.liveness.time_to_live = ALIVE
    try:
        async with runtime, asyncio.timeout(PATIENCE):
            for workflow in (item, order):
                await runtime.definitions.deploy(workflow)
            node_of(runtime).take_work()
            await runtime.dispatcher.dispatch(
                DispatchDefinition(definition_id=order.definition.id, instance_id=NAME, idempotency_key="start")
            )
            with suppress(InstanceAtRest):  # It has ended already.
                await runtime.stimuli.event("paid", {}, instance_id=NAME, idempotency_key="paid")
            await _all_ended(runtime)
            return {"broken": await _broken(runtime, Ledger(Path(ledger)))}
    finally:
        engine.close()


async def died_and_went_on(url: str, point: str, number: int, folder: Path) -> tuple[bool, list[str]]:
    """Whether it died, and what does not fit after another one has ended it."""
    dying = start("run_order", url, fault=f"{point}:{number}", node="one", ledger=str(folder))
    died = await asyncio.to_thread(answer_of, dying, timedelta(seconds=2 * PATIENCE)) is None
    store = store_from_url(url)
    await store.open()
    try:
        return died, (await run_order(store, "two", str(folder)))["broken"]
    finally:
        await store.close()


async def _all_ended(runtime: ManagedRuntime) -> None:
    """Its child too; and nothing is left to do."""
    store, seen = runtime.store, 0
    while True:
        items = (await store.search(InstanceQuery(tenant=TENANT))).items
        if items and all(item.finished is not None for item in items) and not (await store.stats(TENANT)).work_ready:
            return
        seen = await store.wait_for_change(seen, timedelta(milliseconds=200))


async def _broken(runtime: ManagedRuntime, ledger: Ledger) -> list[str]:
    store = runtime.store
    broken: list[str] = []
    items = (await store.search(InstanceQuery(tenant=TENANT))).items
    if Counter(item.definition_id for item in items) != {"cluster_order": 1, "cluster_item": 1}:
        broken.append(f"instances {[(item.id, item.definition_id) for item in items]}")
    for found in items:
        journal = await runtime.journal(found.id, limit=10_000)
        ends = [entry.event for entry in journal].count(JournalEvent.INSTANCE_FINISHED)
        results = Counter(entry.execution_id for entry in journal if entry.event is JournalEvent.EFFECT_RESULT)
        if found.status != Status.FINISHED or ends != 1 or max(results.values(), default=0) > 1:
            broken.append(f"{found.id} is {found.status}, ended {ends} times, effect results {dict(results)}")
        if [entry.sequence for entry in journal] != list(range(len(journal))):
            broken.append(f"the journal of {found.id} has a gap")
    expected = {f"{NAME}.{what}" for what in OF_ORDER} | {f"{item.id}.item" for item in items if item.id != NAME}
    if ledger.entries != expected:
        broken.append(f"ledger {sorted(ledger.entries ^ expected)}")
    attempts = Counter((call.key, call.attempt) for call in ledger.calls)
    broken += [f"attempt {number} twice: {key}" for (key, number), times in attempts.items() if times > 1]
    broken += [f"dead letter {letter.work.id}" for letter in await store.list_dead_letters(TENANT)]
    broken += [f"stuck {key.id}" for key in await store.find_stuck(10) if key.tenant == TENANT]
    return broken
