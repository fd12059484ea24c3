"""Effects without a result when their scope failed: a retry of the scope continues them under the same key."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Context, Holdfast, OnLost, Retry, RunResult, Status, Workflow, activity
from holdfast.activities import Parallel, Sequence, Try
from holdfast.authoring.activity import Activity
from holdfast.authoring.compiled import workflow
from holdfast.authoring.primitives import gather
from holdfast.model.instance import LOST
from holdfast.testing.clock import VirtualClock

FILLED_IN: Any = None
"""Holdfast fills in the context; the calls do not pass it."""
CALLS: dict[str, list[tuple[str, int]]] = defaultdict(list)
BROKEN: set[str] = set()
STUCK: set[str] = set()
BEGUN: dict[str, asyncio.Event] = defaultdict(asyncio.Event)


async def _pay(name: str, context: Context) -> str:
    CALLS[name].append((context.idempotency_key, context.attempt))
    BEGUN[name].set()
    if name in STUCK:
        await asyncio.Event().wait()
    if name in BROKEN:
        await BEGUN["charge"].wait()
        raise ValueError(f"{name} is broken")
    return name


@activity
async def pay(name: str, context: Context = FILLED_IN) -> str:
    return await _pay(name, context)


@activity(on_lost=OnLost.FAIL)
async def pay_or_fail(name: str, context: Context = FILLED_IN) -> str:
    return await _pay(name, context)


@activity(on_lost=OnLost.HOLD)
async def pay_or_hold(name: str, context: Context = FILLED_IN) -> str:
    return await _pay(name, context)


class Pay(Activity):
    name_: str

    async def execute(self, context: Context) -> None:
        await _pay(self.name_, context)


@workflow
async def guarded() -> Any:
    try:
        return await gather(pay("charge"), pay("reserve"))
    finally:
        await pay("release")


@workflow
async def nested() -> Any:
    try:
        try:
            return await gather(pay("charge"), pay("reserve"))
        finally:
            await pay("release")
    finally:
        await pay("report")


@workflow
async def other_inputs(names: list[str]) -> Any:
    try:
        return await gather(pay(names.pop()), pay("reserve"))
    finally:
        await pay("release")


@workflow
async def caught_outside() -> Any:
    for turn in range(2):
        try:
            try:
                return await gather(pay("charge"), pay("reserve"))
            finally:
                await pay(f"release{turn}")
        except ValueError:
            STUCK.clear()
            BROKEN.clear()
    return None


def trying() -> Workflow:
    body = Parallel(pay.bind("charge"), pay.bind("reserve"))
    return Workflow(Try(body=body, finally_=pay.bind("release")), id="trying")


def trying_objects() -> Workflow:
    body = Parallel(Pay(name_="charge"), Pay(name_="reserve"))
    return Workflow(Try(body=body, finally_=pay.bind("release")), id="trying_objects")


def held(kind: Any) -> Callable[[], Workflow]:
    def make() -> Workflow:
        body = Parallel(kind.bind("charge"), pay.bind("reserve"))
        return Workflow(Try(body=body, finally_=pay.bind("release")), id="held")

    return make


@pytest.fixture
def engine() -> Any:
    for kept in (CALLS, BROKEN, STUCK, BEGUN):
        kept.clear()
    made = Holdfast(entry_points=False, clock=VirtualClock(), activities=[Pay])
    yield made
    made.close()


def carried(engine: Holdfast, result: RunResult, of: Any) -> RunResult:
    return engine.runner.load(json.loads(json.dumps(result.state)), of)


async def interrupted(engine: Holdfast, flow: Any, inputs: Any = None) -> RunResult:
    """`reserve` fails while `charge` runs, and nobody catches it."""
    STUCK.add("charge")
    BROKEN.add("reserve")
    failed = await engine.runner.run(flow, inputs)
    assert failed.status is Status.FAULTED
    STUCK.clear()
    BROKEN.clear()
    return carried(engine, failed, flow)


@pytest.mark.parametrize("make", [lambda: guarded, lambda: nested, trying, trying_objects])
async def test_a_scope_that_is_retried_continues_what_had_no_result(engine: Holdfast, make: Any) -> None:
    flow = make()
    failed = await interrupted(engine, flow)

    done = await engine.runner.retry(failed)

    assert done.status is Status.FINISHED
    for name in ("charge", "reserve"):
        assert len({key for key, _ in CALLS[name]}) == 1
        assert [attempt for _, attempt in CALLS[name]] == [1, 2]
    assert len({key for key, _ in CALLS["release"]}) == 2


async def test_a_call_with_other_inputs_is_a_new_execution(engine: Holdfast) -> None:
    failed = await interrupted(engine, other_inputs, {"names": ["later", "charge"]})

    done = await engine.runner.retry(failed)

    assert done.outputs == {"result": ["later", "reserve"]}
    assert CALLS["later"][0][1] == 1
    assert CALLS["later"][0][0] != CALLS["charge"][0][0]


async def test_what_the_program_catches_and_calls_again_is_a_new_call(engine: Holdfast) -> None:
    STUCK.add("charge")
    BROKEN.add("reserve")

    done = await engine.runner.run(caught_outside)

    assert done.outputs == {"result": ["charge", "reserve"]}
    assert [attempt for _, attempt in CALLS["charge"]] == [1, 1]
    assert len({key for key, _ in CALLS["charge"]}) == 2


async def test_an_unknown_outcome_fails_if_on_lost_says_so(engine: Holdfast) -> None:
    flow = held(pay_or_fail)()
    failed = await engine.runner.retry(await interrupted(engine, flow))

    assert (failed.status, failed.incidents[0].type) == (Status.FAULTED, "EffectLost")
    assert len(CALLS["charge"]) == 1


async def test_an_unknown_outcome_is_held_if_on_lost_says_so(engine: Holdfast) -> None:
    flow = held(pay_or_hold)()
    failed = await engine.runner.retry(await interrupted(engine, flow))

    assert failed.status is Status.FAULTED  # Without a store nobody can recover it.
    assert LOST in {item.type for item in failed.incidents}
    assert len(CALLS["charge"]) == 1


async def test_a_policy_that_retries_a_scope_after_its_timeout_keeps_the_key(engine: Holdfast) -> None:
    again = Retry(attempts=2, delay=timedelta(0))
    flow = Workflow(Sequence(pay.bind("charge"), timeout=timedelta(seconds=5), retry=again), id="slow")
    STUCK.add("charge")

    running = engine.runner.start(flow, wait=True)
    await BEGUN["charge"].wait()
    STUCK.clear()
    done = await running.result()

    assert done.status is Status.FINISHED
    assert [attempt for _, attempt in CALLS["charge"]] == [1, 2]
    assert len({key for key, _ in CALLS["charge"]}) == 1
