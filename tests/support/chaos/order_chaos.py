"""Chaos test of rule H16: numbered events are sent one by one while workers are killed; each instance gets them in order, once.

One sender per instance sends each event until it is accepted, with an idempotency key, and only then the next. The addresses are
the instance, its correlation id, and a key; half of the keyed events are sent before their instance is started.
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
from tests.support.chaos.cluster_driver import all_at_rest, patiently
from tests.support.chaos.order_workflows import reads_key, reads_own, reads_own_with_effects
from tests.support.worker_group import keep_alive, kill_one, worker_group

TENANT = "order"
MODULE = "tests.support.chaos.order_workflows"
PATIENCE = 600.0
KINDS = ("instance", "correlation", "key", "early key")


class OrderReport(Struct, frozen=True, kw_only=True):
    kills: int
    instances: int
    events: int
    broken: tuple[str, ...]
    """Instances that did not get their events in order, each once."""

    @property
    def sound(self) -> bool:
        return not self.broken


async def order_chaos(
    url: str,
    *,
    instances: int,
    events: int,
    kills: int,
    workers: int = 3,
    every: timedelta = timedelta(milliseconds=700),
    alive: timedelta = timedelta(seconds=3),
) -> OrderReport:
    group = worker_group(url, tenant=TENANT, module=MODULE, workers=workers, alive=alive)
    engine = Holdfast(entry_points=False, workflows=[reads_own, reads_own_with_effects, reads_key])
    store = store_from_url(url)
    await store.open()
    names = [f"i{number}" for number in range(instances)]
    try:
        async with engine.runtime_on(store, tenant=TENANT, node="driver") as runtime:
            runtime.intake.paused = True  # Everything but asking is the workers'.
            for workflow in (reads_own, reads_own_with_effects, reads_key):
                await runtime.definitions.deploy(workflow)
            await asyncio.gather(*(worker.start() for worker in group))
            reviving = asyncio.create_task(keep_alive(group))
            talks = [asyncio.create_task(_talk(runtime, number, events)) for number in range(instances)]
            done = 0
            while done < kills:
                await asyncio.sleep(every.total_seconds())
                done += await kill_one(group)
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*talks)
                await all_at_rest(runtime, names)
            reviving.cancel()
            await asyncio.wait([reviving])
            broken = await _broken(runtime, names, events)
            return OrderReport(kills=done, instances=instances, events=instances * events, broken=broken)
    finally:
        for worker in group:
            await worker.close()
        await store.close()
        engine.close()


async def _talk(runtime: ManagedRuntime, number: int, events: int) -> None:
    name, kind = f"i{number}", KINDS[number % len(KINDS)]
    workflow = reads_key if "key" in kind else (reads_own, reads_own_with_effects)[number // len(KINDS) % 2]
    inputs: dict[str, Any] = {"count": events, **({"name": name} if workflow is reads_key else {})}
    address = {"instance": {"instance_id": name}, "correlation": {"correlation_id": name}}.get(kind, {"key": name})
    request = DispatchDefinition(
        definition_id=workflow.definition.id, instance_id=name, correlation_id=name, input=inputs
    )
    for event in range(events):
        if event == (events // 2 if kind == "early key" else 0):
            await patiently(lambda: runtime.dispatcher.dispatch(request))
        await patiently(
            lambda event=event: runtime.stimuli.event(  # type: ignore[misc]  # a default binds the number
                "numbered", event, idempotency_key=f"{name}-{event}", **address
            )
        )


async def _broken(runtime: ManagedRuntime, names: Sequence[str], events: int) -> tuple[str, ...]:
    found = []
    for name in names:
        result = await runtime.read(name)
        got = result.outputs.get("result")
        if result.status is not Status.FINISHED or got != list(range(events)):
            found.append(f"{name} is {result.status} with {got}")
    left = (await runtime.store.stats(TENANT)).inbox
    return tuple(found + ([f"{left} stimuli are left"] if left else []))
