"""Chaos test of wide instances: hundreds of branches, whose results arrive while workers are killed. Every branch counts once.

Instances wait for effects, steps, children and events. The sum of the results shows a branch that is missing or counted twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from msgspec import Struct

from holdfast.engine import Holdfast
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.instance import Status
from holdfast.model.requests import DispatchDefinition
from holdfast.persistence import store_from_url
from tests.support.chaos import wide_workflows as flows
from tests.support.chaos.cluster_driver import all_at_rest, patiently
from tests.support.worker_group import keep_alive, kill_one, worker_group

TENANT = "wide"
PATIENCE = 600.0
FLOWS: tuple[Any, ...] = (
    flows.wide_effects,
    flows.wide_steps,
    flows.wide_records,
    flows.wide_children,
    flows.wide_parallel,
    flows.wide_events,
)


class WideReport(Struct, frozen=True, kw_only=True):
    kills: int
    branches: int
    broken: tuple[str, ...]

    @property
    def sound(self) -> bool:
        return not self.broken


async def wide_chaos(
    url: str,
    *,
    width: int,
    kills: int,
    workers: int = 3,
    every: timedelta = timedelta(milliseconds=700),
) -> WideReport:
    group = worker_group(url, tenant=TENANT, module=flows.__name__, workers=workers)
    engine = Holdfast(entry_points=False, workflows=[*FLOWS, flows.wide_child])
    store = store_from_url(url)
    await store.open()
    names = [flow.definition.id for flow in FLOWS]
    try:
        async with engine.runtime_on(store, tenant=TENANT, node="driver") as runtime:
            runtime.intake.paused = True  # Everything but asking is the workers'.
            for workflow in (*FLOWS, flows.wide_child):
                await runtime.definitions.deploy(workflow)
            await asyncio.gather(*(worker.start() for worker in group))
            reviving = asyncio.create_task(keep_alive(group))
            talk = asyncio.create_task(_talk(runtime, names, width))
            done = 0
            while done < kills:
                await asyncio.sleep(every.total_seconds())
                done += await kill_one(group)
            async with asyncio.timeout(PATIENCE):
                await talk
                await all_at_rest(runtime, names)
            reviving.cancel()
            await asyncio.wait([reviving])
            broken = await _broken(runtime, names, width)
            return WideReport(kills=done, branches=width * len(names), broken=broken)
    finally:
        for worker in group:
            await worker.close()
        await store.close()
        engine.close()


async def _talk(runtime: ManagedRuntime, names: Sequence[str], width: int) -> None:
    """Start all instances, then send the events of the last one in the reverse order of its branches."""
    *others, events = names
    for name in others:
        await _start(runtime, name, count=width)
    await _start(runtime, events, count=width, name=events)
    for number in reversed(range(width)):
        key = f"{events}-{number}"
        await patiently(
            lambda number=number, key=key: runtime.stimuli.event(  # type: ignore[misc]  # defaults bind the number
                "wide", 2 * number, key=key, idempotency_key=key
            )
        )


async def _start(runtime: ManagedRuntime, identity: str, **inputs: Any) -> None:
    request = DispatchDefinition(definition_id=identity, instance_id=identity, input=inputs)
    await patiently(lambda: runtime.dispatcher.dispatch(request))


async def _broken(runtime: ManagedRuntime, names: Sequence[str], width: int) -> tuple[str, ...]:
    expected = sum(2 * number for number in range(width))
    found = []
    for name in names:
        result = await runtime.read(name)
        got = result.outputs.get("result")
        if result.status is not Status.FINISHED or got != expected:
            found.append(f"{name} is {result.status} with {got} instead of {expected}")
    stats = await runtime.store.stats(TENANT)
    left = {"stimuli": stats.inbox, "effects": stats.effects, "bookmarks": stats.bookmarks}
    return tuple(found + [f"{count} {kind} are left" for kind, count in left.items() if count])
