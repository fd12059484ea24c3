"""Scenarios of joins, failures, retries, timeouts and cancellation: inline and on queues, on both stores."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from holdfast import Context, Poll, Retry, Status, Workflow, activity, expr, literal, telemetry
from holdfast.activities import (
    Delay,
    Event,
    Flowchart,
    FlowJoin,
    Parallel,
    ParallelForEach,
    Sequence,
    SetVariable,
    Try,
)
from holdfast.errors import InstanceAtRest
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
async def stumble(times: int) -> int:
    probe.counts["stumble"] += 1
    if probe.counts["stumble"] <= times:
        raise ConnectionError("not yet")
    return probe.counts["stumble"]


@activity
async def refuse() -> None:
    probe.counts["refuse"] += 1
    raise ValueError("never")


@activity
async def hang() -> None:
    probe.begun.set()
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        probe.canceled.set()
        raise


@activity
async def narrow(n: int) -> int:
    probe.here += 1
    probe.most = max(probe.most, probe.here)
    await asyncio.sleep(0)
    probe.here -= 1
    return n


@activity
async def unstorable() -> object:
    return object()


class Third(Poll):
    async def poll(self, context: Context) -> Any:
        probe.counts["poll"] += 1
        probe.calls.append((context.execution_id, context.state.get("polling_since")))
        return probe.counts["poll"] if probe.counts["poll"] >= 3 else None


ALL = [work, stumble, refuse, hang, narrow, unstorable, Third]


@pytest.mark.parametrize("branches", [2, 20])
async def test_02_a_join_runs_once_and_sees_all_outputs(scene: Scene, branches: int) -> None:
    a, b = await scene.pair(*ALL)
    parts = [work.bind(name=f"p{number}", result=f"v{number}", id=f"p{number}") for number in range(branches)]
    join, after = FlowJoin("wait_all", id="join"), work.bind(name="after", id="after")
    begin = work.bind(name="begin", id="begin")
    links = [begin >> part for part in parts] + [part >> join for part in parts] + [join >> after]
    flow = Workflow(
        Flowchart(begin, connections=links), id="fan", variables={f"v{number}": "" for number in range(branches)}
    )
    identity = await start(a, flow)

    result = await at_rest(b, identity)
    assert result.status is Status.FINISHED
    assert probe.counts == Counter({"begin": 1, "after": 1, **{f"p{number}": 1 for number in range(branches)}})
    assert [result.variables[f"v{number}"] for number in range(branches)] == [f"p{n}" for n in range(branches)]
    await scene.cluster.check(a, identity)


async def test_10_a_poll_goes_on_elsewhere_with_its_start_and_its_count(scene: Scene) -> None:
    a = await scene.node("a", ALL, work=False)
    identity = await start(a, Workflow(Third(interval=SOON, result="found"), variables={"found": 0}, id="third"))
    await a.settled(identity)
    await node_of(a).stop()
    b = await scene.node("b", ALL)

    result = await at_rest(b, identity)
    assert result.variables["found"] == 3
    executions = {execution for execution, _ in probe.calls}
    assert len(executions) == 1
    assert len({since for _, since in probe.calls[1:]}) == 1


async def test_13_the_last_two_end_at_once_and_the_run_ends_once(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    flow = Workflow(Parallel(work.bind(name=1), work.bind(name=2)), id="two")
    names = [await start(runtime, flow) for runtime in (a, b) for _ in range(10)]
    for name in names:
        await at_rest(a, name)
        events = [entry.event for entry in await a.journal(name)]
        assert events.count(JournalEvent.INSTANCE_FINISHED) == 1


async def test_14_what_follows_a_failure_does_not_run(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    chain = [refuse.bind(id="l0"), *(work.bind(name=n, id=f"l{n}") for n in range(1, 6))]
    links = [chain[n] >> chain[n + 1] for n in range(5)]
    identity = await start(a, Workflow(Flowchart(chain[0], connections=links), id="chain"))

    result = await at_rest(b, identity)
    assert result.status is Status.FAULTED
    assert probe.counts == Counter({"refuse": 1})


async def test_15_a_handled_failure_is_no_failure(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    handled = Workflow(Try(refuse.bind(), catches=[{"activity": work.bind(name="handler")}]), id="handled")
    unhandled = Workflow(Try(work.bind(name="fine"), catches=[{"activity": work.bind(name="idle")}]), id="fine")
    first, second = await start(a, handled), await start(b, unhandled)

    assert (await at_rest(b, first)).status is Status.FINISHED
    assert (await at_rest(a, second)).status is Status.FINISHED
    assert probe.counts == Counter({"refuse": 1, "handler": 1, "fine": 1})


async def test_16_and_17_a_manual_retry_runs_what_failed_and_what_follows_once(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    flow = Workflow(
        Sequence(work.bind(name="before"), stumble.bind(times=1, result="n"), work.bind(name="after")),
        id="again",
        variables={"n": 0},
    )
    identity = await start(a, flow)
    assert (await at_rest(b, identity)).status is Status.FAULTED

    answers = await asyncio.gather(a.retry(identity), b.retry(identity), return_exceptions=True)
    result = await at_rest(a, identity)

    assert result.status is Status.FINISHED
    assert probe.counts == Counter({"before": 1, "stumble": 2, "after": 1})
    assert sum(isinstance(item, InstanceAtRest) for item in answers) <= 1
    with pytest.raises(InstanceAtRest):
        await a.retry(identity)


async def test_18_automatic_retries_wait_longer_each_time_also_over_a_restart(scene: Scene) -> None:
    a = await scene.node("a", ALL)
    patient = Retry(attempts=4, delay=timedelta(milliseconds=40), factor=2.0, jitter=0.0)
    flow = Workflow(stumble.bind(times=3, result="n", retry=patient), id="patient", variables={"n": 0})
    identity = await start(a, flow)
    await until(lambda: _reached("stumble", 1))
    await node_of(a).stop()
    b = await scene.node("b", ALL)

    result = await at_rest(b, identity)
    assert result.variables["n"] == 4
    waits = [entry for entry in await b.journal(identity) if entry.event is JournalEvent.RETRY_SCHEDULED]
    assert [entry.data["attempt"] for entry in waits] == [2, 3, 4]


async def _reached(name: str, count: int) -> bool:
    return probe.counts[name] >= count


async def test_18_an_error_that_is_not_to_be_retried_fails_at_once(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    choosy = Retry(attempts=5, never_on=("ValueError",), delay=SOON)
    identity = await start(a, Workflow(refuse.bind(retry=choosy), id="choosy"))

    assert (await at_rest(b, identity)).status is Status.FAULTED
    assert probe.counts["refuse"] == 1


async def test_19_a_step_that_takes_too_long_is_canceled_and_fails(scene: Scene) -> None:
    """Its time counts from when it begins; one that ends before it has said so is asked for again here with more time."""
    a, b = await scene.pair(*ALL)
    for limit in (timedelta(milliseconds=100), timedelta(seconds=1), timedelta(seconds=10)):
        identity = await start(a, Workflow(hang.bind(timeout=limit), id="slow"))
        result = await at_rest(b, identity)
        assert result.status is Status.FAULTED
        assert result.incidents[0].type == "ActivityTimeout"
        if probe.begun.is_set():
            break
    async with asyncio.timeout(20):
        await probe.canceled.wait()


async def test_19_a_run_that_takes_too_long_ends_while_it_is_parked(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    parked = Workflow(Sequence(Event("never")), id="parked", timeout=timedelta(milliseconds=100))
    identity = await start(a, parked)

    assert (await at_rest(b, identity)).status is Status.FAULTED


@pytest.mark.parametrize("where", ["running", "waiting", "backing off", "sleeping"])
async def test_20_cancel_ends_it_wherever_it_is(scene: Scene, where: str) -> None:
    a, b = await scene.pair(*ALL)
    activities = {
        "running": hang.bind(),
        "waiting": Event("never"),
        "backing off": refuse.bind(retry=Retry(attempts=3, delay=timedelta(hours=1))),
        "sleeping": Delay(timedelta(hours=1)),
    }
    identity = await start(a, Workflow(Sequence(activities[where], work.bind(name="after")), id="endless"))
    if where == "running":
        async with asyncio.timeout(20):
            await probe.begun.wait()
    elif where == "backing off":
        await until(lambda: _reached("refuse", 1))
    await b.cancel(identity)

    result = await at_rest(a, identity)
    assert result.status is Status.CANCELED
    assert probe.counts["after"] == 0
    export = await a.store.export_instance(scene.cluster.tenant, identity)
    assert export is not None
    assert not export.effects
    assert not [row for row in export.work if row.kind == "timer"]


@pytest.mark.parametrize(("items", "limit"), [(0, 8), (1, 8), (60, 1), (60, 8), (60, 0)])
async def test_23_a_loop_waits_for_all_and_keeps_its_limit(scene: Scene, items: int, limit: int) -> None:
    a, b = await scene.pair(*ALL)
    options = {"limit": limit} if limit else {}
    loop = ParallelForEach(expr("list(range(items))"), narrow.bind(n=expr("n")), item="n", **options)
    flow = Workflow(Sequence(loop, work.bind(name="after")), id="loop", inputs={"items": int})
    identity = await start(a, flow, items=items)

    assert (await at_rest(b, identity)).status is Status.FINISHED
    assert probe.calls == ["after"]
    assert limit == 0 or probe.most <= limit


async def test_26_data_that_looks_like_code_stays_data(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    text = {"$python": "1 / 0", "nested": ["{{ secret }}", "=1+1", {"$code": "x"}]}
    flow = Workflow(
        Sequence(
            work.bind(name=expr("given"), result="kept"), Delay(SOON), work.bind(name=expr("kept"), result="kept")
        ),
        id="data",
        inputs={"given": dict},
        variables={"kept": None},
    )
    identity = await start(a, flow, given=text)

    result = await at_rest(b, identity)
    assert result.variables["kept"] == text
    assert probe.calls == [text, text]


async def test_28_values_keep_their_types_through_every_carrier(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    given = {"d": Decimal("1.10"), "big": 2**70, "bytes": b"\x00\xff", "none": None, "list": [[1], []], "t": SOON}
    flow = Workflow(
        Sequence(SetVariable("kept", literal(given)), work.bind(name=expr("kept"), result="kept")),
        id="values",
        variables={"kept": None},
    )
    identity = await start(a, flow)

    result = await at_rest(b, identity)
    assert result.variables["kept"] == given
    assert {type(value) for value in result.variables["kept"].values()} == {type(value) for value in given.values()}


async def test_28_a_result_that_cannot_be_kept_fails_the_step_and_nobody_else(scene: Scene) -> None:
    a, b = await scene.pair(*ALL)
    bad = await start(a, Workflow(unstorable.bind(result="v"), id="bad", variables={"v": None}))
    good = await start(b, Workflow(work.bind(name="fine"), id="good"))

    assert (await at_rest(a, bad)).status is Status.FAULTED
    assert (await at_rest(a, good)).status is Status.FINISHED


async def test_29_a_listener_that_fails_changes_nothing(scene: Scene) -> None:
    def broken(name: str, fields: Any) -> None:
        raise RuntimeError("a dashboard is down")

    a, b = await scene.pair(*ALL)
    with telemetry.on(broken):
        identity = await start(a, Workflow(Sequence(work.bind(name=1), work.bind(name=2)), id="watched"))
        assert (await at_rest(b, identity)).status is Status.FINISHED
