"""Scenarios of dying nodes, signals, keys and deployments: inline and on queues, on both stores."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Status, Workflow, activity, expr
from holdfast.activities import Delay, Event, ForEach, ParallelForEach, Sequence, SetVariable
from holdfast.errors import HoldfastError
from holdfast.model.instance import JournalEvent
from tests.integration.scenarios.conftest import Scene, at_rest, start, until
from tests.support.node import node_of
from tests.support.probe import probe

SOON = timedelta(milliseconds=20)


@activity
async def work(name: Any) -> Any:
    probe.counts[str(name)] += 1
    probe.calls.append(name)
    return name


@activity
async def gated(say: str) -> str:
    """The first call hangs until the gate is open, and cannot be canceled: as a frozen process."""
    probe.counts[say] += 1
    number = probe.counts[say]
    probe.begun.set()
    if number == 1:
        while not probe.gate.is_set():
            try:
                await probe.gate.wait()
            except asyncio.CancelledError:
                continue
    return f"{say} {number}"


ALL = [work, gated]


async def test_07_and_08_a_late_result_of_a_dead_node_is_refused(scene: Scene) -> None:
    a = await scene.node("a", ALL)
    flow = Workflow(
        Sequence(gated.bind(say="x", result="said"), work.bind(name="after")), variables={"said": ""}, id="g"
    )
    identity = await start(a, flow)
    async with asyncio.timeout(20):
        await probe.begun.wait()
    for part in (
        node_of(a).components.reaper,
        node_of(a).components.poller,
        node_of(a).components.steps,
        node_of(a).components.scheduler,
    ):
        await part.stop()
    b = await scene.node("b", ALL)
    await scene.cluster.died(a)
    await node_of(b).components.reaper.sweep()

    result = await at_rest(b, identity)
    probe.gate.set()
    await a.settled(identity)

    assert result.variables["said"] == "x 2"
    assert (await b.read(identity)).variables["said"] == "x 2"
    assert probe.counts == Counter({"x": 2, "after": 1})
    receipts = [entry.data for entry in await b.journal(identity) if entry.event is JournalEvent.TAKEN_OVER]
    assert [(item["node"], item["attempt"]) for item in receipts] == [(a.membership.name, 2)]


async def test_09_an_effect_that_outlasts_many_heartbeats_is_never_taken_over(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    identity = await start(a, Workflow(gated.bind(say="long"), id="long"))
    async with asyncio.timeout(20):
        await probe.begun.wait()
    for _ in range(10):
        for runtime in (a, b):
            await node_of(runtime).heartbeat.beat()
            await node_of(runtime).components.reaper.sweep()
    probe.gate.set()

    assert (await at_rest(b, identity)).status is Status.FINISHED
    assert probe.counts == Counter({"long": 1})


async def test_11_and_12_sweepers_beside_live_traffic_start_nothing_early_or_twice(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    flow = Workflow(
        Sequence(work.bind(name=expr("n"), result="one"), Delay(SOON), work.bind(name=expr("'after ' + str(one)"))),
        id="steps",
        inputs={"n": int},
        variables={"one": 0},
    )
    names = [await start(runtime, flow, n=number) for number, runtime in enumerate([a, b] * 10)]
    sweeping = asyncio.gather(*(node_of(runtime).components.reaper.sweep() for runtime in (a, b) for _ in range(5)))
    for name in names:
        assert (await at_rest(a, name)).status is Status.FINISHED
    await sweeping

    assert set(probe.counts.values()) == {1}
    for number in range(20):
        assert probe.calls.index(number) < probe.calls.index(f"after {number}")


async def test_21_an_event_before_its_waiter_is_kept_and_taken_once(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    flow = Workflow(
        Sequence(gated.bind(say="first"), Event("go", result="got"), work.bind(name=expr("got"))),
        id="early",
        variables={"got": None},
    )
    identity = await start(a, flow)
    async with asyncio.timeout(20):
        await probe.begun.wait()
    await b.stimuli.event("go", "payload", instance_id=identity)
    probe.gate.set()

    assert (await at_rest(b, identity)).status is Status.FINISHED
    assert probe.calls == ["payload"]
    with pytest.raises(HoldfastError):
        await b.stimuli.event("go", "late", instance_id=identity)


async def test_21_two_waiters_of_one_name_take_two_events_the_oldest_first(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    body = Sequence(Event("go", result="got"), work.bind(name=expr("str(n) + got")))
    flow = Workflow(ParallelForEach([1, 2], body, item="n"), id="both", variables={"got": ""})
    identity = await start(a, flow)
    await until(lambda: _waits(a, identity, 2))
    await b.stimuli.event("go", "x", instance_id=identity)
    await until(lambda: _waits(a, identity, 1))
    await a.stimuli.event("go", "y", instance_id=identity)

    assert (await at_rest(b, identity)).status is Status.FINISHED
    assert sorted(probe.calls) == ["1x", "2y"]


async def _waits(runtime: Any, identity: str, count: int) -> bool:
    return len(await runtime.store.bookmarks_of(runtime.tenant, identity)) == count


async def test_22_who_hangs_up_cancels_nothing(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    identity = await start(a, Workflow(Sequence(Event("go"), work.bind(name="after")), id="left"))
    asking = asyncio.create_task(a.stimuli.event("go", instance_id=identity, wait=timedelta(seconds=20)))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait([asking])
    waiting = await a.store.bookmarks_of(scene.cluster.tenant, identity)
    if waiting:  # It was canceled before it was accepted: then it was never sent.
        await b.stimuli.event("go", instance_id=identity)

    assert (await at_rest(b, identity)).status is Status.FINISHED
    assert probe.counts["after"] == 1


async def test_24_loops_in_loops_settle_innermost_first(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    inner = Sequence(work.bind(name=expr("str(x) + '.' + str(y)")), SetVariable("count", expr("count + 1")))
    flow = Workflow(
        Sequence(
            ForEach(expr("[1, 2, 3]"), ForEach(expr("[1, 2]"), inner, item="y"), item="x"), work.bind(name="after")
        ),
        id="nested",
        variables={"count": 0},
    )
    identity = await start(a, flow)

    result = await at_rest(b, identity)
    assert result.variables["count"] == 6
    assert probe.calls == ["1.1", "1.2", "2.1", "2.2", "3.1", "3.2", "after"]


async def test_27_a_hundred_starts_with_one_key_are_one(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    flow = Workflow(work.bind(name="once"), id="keyed")
    answers = await asyncio.gather(*(runtime.start(flow, idempotency="k1") for runtime in (a, b) for _ in range(50)))
    started = [item.result.instance_id for item in answers if item.result is not None]

    assert len(started) == 1
    assert {item.existing for item in answers if item.result is None} == set(started)
    assert (await at_rest(b, started[0])).status is Status.FINISHED
    assert probe.counts == Counter({"once": 1})


async def test_30_running_instances_stay_on_their_version_when_another_is_deployed(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    old = Workflow(Sequence(Event("go"), work.bind(name="old")), id="deployed")
    new = Workflow(Sequence(Event("go"), work.bind(name="extra"), work.bind(name="new")), id="deployed", version=2)
    names = [await start(a, old) for _ in range(10)]
    newer = await start(b, new)
    for name in (*names, newer):
        await b.stimuli.event("go", instance_id=name)
    for name in (*names, newer):
        assert (await at_rest(a, name)).status is Status.FINISHED

    assert probe.counts == Counter({"old": 10, "extra": 1, "new": 1})
