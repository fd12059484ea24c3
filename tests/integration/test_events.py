"""Every event of the table is heard from a real run, with exactly the fields that the table names."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from holdfast import Event, Fault, Holdfast, Sequence, Workflow, activity, telemetry


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
