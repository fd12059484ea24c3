"""One key per effect (rule H3) on every store: calls that run beside a failure, retries of operators at any moment."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from holdfast import Context, Status, Workflow, activity, expr
from holdfast.activities import Fork, Parallel, ParallelForEach, Sequence, Try
from holdfast.authoring.compiled import workflow
from holdfast.authoring.primitives import gather
from holdfast.management.instances.operators import Operators
from holdfast.model.listing import InstanceFilter
from holdfast.model.policy import OnLost
from tests.simulation.test_effect_keys import check_keys
from tests.support.programs.comparison import load
from tests.support.programs.effect_calls import Program
from tests.support.programs.effect_outcomes import Current, Outcomes

FILLED_IN: Any = None
"""Holdfast fills in the context; the calls do not pass it."""
CALLS: dict[str, list[tuple[str, int]]] = defaultdict(list)
BROKEN: set[str] = set()
GATE: list[asyncio.Event] = []
"""Lets `charge` end."""
BEGUN: list[asyncio.Event] = []
"""`charge` has begun."""


async def _call(name: str, context: Context) -> str:
    CALLS[name].append((context.idempotency_key, context.attempt))
    if name == "charge" and BROKEN:
        BEGUN[0].set()
        await GATE[0].wait()
    elif name in BROKEN:
        await BEGUN[0].wait()
        raise ValueError(name)
    return name


@activity
async def pay(name: str, context: Context = FILLED_IN) -> str:
    return await _call(name, context)


@activity(on_lost=OnLost.HOLD)
async def pay_or_hold(name: str, context: Context = FILLED_IN) -> str:
    return await _call(name, context)


@workflow
async def gathered() -> Any:
    return await gather(pay("charge"), pay("reserve"))


def forked() -> Workflow:
    return Workflow(Fork(Sequence(pay.bind("charge")), Sequence(pay.bind("reserve"))), id="forked")


def at_once() -> Workflow:
    return Workflow(Parallel(pay.bind("charge"), pay.bind("reserve")), id="at_once")


def for_each() -> Workflow:
    return Workflow(ParallelForEach(["charge", "reserve"], pay.bind(expr("CurrentValue"))), id="for_each")


@pytest.fixture(autouse=True)
def _renew() -> None:
    CALLS.clear()
    BROKEN.clear()
    GATE[:], BEGUN[:] = [asyncio.Event()], [asyncio.Event()]


async def begun_and_failed(a: Any, flow: Any) -> str:
    """`reserve` has failed, `charge` runs."""
    BROKEN.add("reserve")
    identity = str((await a.start(flow)).result.instance_id)
    change = 0
    while not (await a.read(identity)).incidents:
        change = await a.store.wait_for_change(change, timedelta(seconds=1))
    return identity


@pytest.mark.parametrize("make", [lambda: gathered, forked, at_once, for_each])
@pytest.mark.parametrize("early", [True, False], ids=["retried while it runs", "retried after its end"])
async def test_a_call_that_runs_beside_a_failure_is_made_once(cluster: Any, make: Any, early: bool) -> None:
    a = await cluster.node("a", activities=[pay])
    identity = await begun_and_failed(a, make())
    if not early:
        GATE[0].set()
        assert (await a.wait_at_rest(identity)).status is Status.FAULTED
    BROKEN.clear()

    done = await Operators(a).retry_all(InstanceFilter(), who="ann")
    GATE[0].set()

    assert done.changed == 1
    assert (await a.wait_at_rest(identity)).status is Status.FINISHED
    assert [attempt for _, attempt in CALLS["charge"]] == [1]
    assert [attempt for _, attempt in CALLS["reserve"]] == [1, 2]
    assert len({key for key, _ in CALLS["reserve"]}) == 1
    await cluster.check(a, identity)


@pytest.mark.parametrize("steps", [False, True], ids=["inline", "steps"])
async def test_a_retried_scope_continues_the_interrupted_call(cluster: Any, steps: bool) -> None:
    queue = {"queue": "default"} if steps else {}
    body = Parallel(pay.bind("charge", **queue), pay.bind("reserve", **queue))
    flow = Workflow(Try(body=body, finally_=pay.bind("release")), id="guarded")
    a = await cluster.node("a", activities=[pay], work=True)
    identity = await begun_and_failed(a, flow)
    assert (await a.wait_at_rest(identity)).status is Status.FAULTED
    BROKEN.clear()

    await Operators(a).retry(identity, who="ann")

    assert (await a.wait_at_rest(identity)).status is Status.FINISHED
    for name in ("charge", "reserve"):
        assert len({key for key, _ in CALLS[name]}) == 1
        assert [attempt for _, attempt in CALLS[name]] == [1, 2]
    await cluster.check(a, identity)


async def test_an_interrupted_call_is_held_until_an_operator_recovers_it(cluster: Any) -> None:
    body = Parallel(pay_or_hold.bind("charge"), pay.bind("reserve"))
    flow = Workflow(Try(body=body, finally_=pay.bind("release")), id="holding")
    a = await cluster.node("a", activities=[pay, pay_or_hold])
    operators, identity = Operators(a), await begun_and_failed(a, flow)
    assert (await a.wait_at_rest(identity)).status is Status.FAULTED
    BROKEN.clear()
    await operators.retry(identity, who="ann")
    await a.settle(identity)
    assert [attempt for _, attempt in CALLS["charge"]] == [1]
    assert [item.type for item in (await a.read(identity)).incidents] == ["lost"]

    assert await operators.recover(identity, who="ann") == 1

    assert (await a.wait_at_rest(identity)).status is Status.FINISHED
    assert len({key for key, _ in CALLS["charge"]}) == 1
    assert len(CALLS["charge"]) == 2
    assert not (await a.read(identity)).incidents


@pytest.mark.parametrize("seed", range(6))
async def test_random_programs_with_retries_at_random_moments(cluster: Any, seed: int, tmp_path: Path) -> None:
    rng, programs = Random(seed), [Program(seed * 100 + n) for n in range(4)]
    outcomes = Current.outcomes = Outcomes(seed)
    a = await cluster.node("a", work=True)
    operators = Operators(a)
    for number, program in enumerate(programs):
        flow = load(program.text, tmp_path, f"stored_keys_{seed}_{number}_{cluster.tenant}").main
        outcomes = Current.outcomes = Outcomes(seed * 1000 + number)
        identity = str((await a.start(flow)).result.instance_id)
        for _ in range(500):
            status = (await a.read(identity)).status
            if status is Status.FINISHED:
                break
            if status is Status.FAULTED or rng.random() < 0.2:
                await operators.retry(identity, who="ann")
            await asyncio.sleep(0)
        else:
            pytest.fail(program.text)
        check_keys(program, outcomes)
        await cluster.check(a, identity)
