"""Every event of the table is heard from a real run, with exactly the fields that the table names."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from holdfast import Holdfast, Workflow, activity, telemetry
from holdfast.activities import Delay, Event, Fault, Sequence
from holdfast.persistence import store_from_url
from tests.support.node import node_of


@activity
async def greet() -> str:
    return "hello"


@activity
async def stumble() -> None:
    raise ConnectionError("no way")


@activity(timeout=timedelta(milliseconds=1))
async def linger() -> None:
    await asyncio.Event().wait()


async def durable() -> None:
    """What happens only where there is a store."""
    async with Holdfast(store="memory://", entry_points=False) as app:
        await app.runtime.definitions.save_and_publish({"format": "holdfast/definition@1", "id": "d", "root": ROOT})
        await app.runtime.stimuli.event("nobody waits for this", wait=timedelta(seconds=20))
        await app.runtime.definitions.retract("d")
        await app.runtime.definitions.delete("d")
        hanging = await app.runtime.start(Workflow(hang.bind(), id="canceled"))
        assert hanging.result is not None
        await app.runtime.cancel(hanging.result.instance_id)


async def crowded() -> None:
    """What happens only where there are several: two starts of one instance, and a node that dies at work."""
    store = store_from_url("memory://")
    await store.open()
    engine = Holdfast(entry_points=False)
    async with engine.runtime_on(store, node="a") as first, engine.runtime_on(store, node="b") as second:
        await first.start(Workflow(Delay(timedelta(0)), id="delays"), instance_id="twice")
        await second.start(Workflow(Delay(timedelta(0)), id="delays"), instance_id="twice")
        await node_of(second).components.poller.take_due()
        answer = await first.start(Workflow(hang.bind(), id="hangs"))
        assert answer.result is not None
        await store.register_node("a", time_to_live=timedelta(0))
        assert await second.recover(answer.result.instance_id) == 1
    await store.close()
    engine.close()


@activity
async def hang() -> None:
    await asyncio.Event().wait()


ROOT = {"id": "go", "type": "Event", "inputs": {"event_name": "go"}}


async def test_every_event_happens_as_the_table_says() -> None:
    heard: list[tuple[str, Mapping[str, Any]]] = []
    runner = Holdfast(entry_points=False).runner

    with telemetry.on(lambda name, fields: heard.append((name, fields))):
        waiting = await runner.run(Workflow(Sequence(greet.bind(), Event("go")), id="waits"))
        await runner.resume(waiting)
        await runner.cancel(await runner.run(Workflow(Event("stop"), id="stops")))
        await runner.run(Workflow(Fault("on purpose"), id="faults"))
        await runner.run(Workflow(stumble.bind(), id="stumbles"))
        await runner.run(Workflow(linger.bind(), id="lingers"))
        await durable()
        await crowded()

    assert {name for name, _ in heard} == {event.name for event in telemetry.EVENTS}
    wrong = [(name, set(fields)) for name, fields in heard if set(fields) != set(telemetry.BY_NAME[name].fields)]
    assert not wrong


async def test_events_of_one_instance_come_in_the_order_of_its_life() -> None:
    heard: list[str] = []
    runner = Holdfast(entry_points=False).runner

    with telemetry.on(lambda name, _: heard.append(name)):
        waiting = await runner.run(Workflow(Sequence(greet.bind(), Event("go")), id="waits"))
        await runner.resume(waiting)

    assert [name for name in heard if name != "segment.committed"] == [
        "instance.started",
        "effect.started",
        "effect.finished",
        "instance.suspended",
        "instance.resumed",
        "instance.finished",
    ]
