"""Concurrent calls whose failure no handler catches: calls that run are not interrupted, and keep their keys."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from typing import Any

import pytest

from holdfast import Context, Holdfast, RunResult, Status, activity
from holdfast.authoring.compiled import workflow
from holdfast.authoring.primitives import first, gather, parallel
from holdfast.testing.clock import VirtualClock

FILLED_IN: Any = None
"""Holdfast fills in the context; the calls do not pass it."""


class Bank:
    """Calls of the activities with their keys; a call waits for its gate and fails while its name is broken."""

    def __init__(self) -> None:
        self.calls: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self.gates: dict[str, asyncio.Event] = {}
        self.broken: set[str] = set()
        self.begun: dict[str, asyncio.Event] = defaultdict(asyncio.Event)


BANK = Bank()
TURNS = 50
"""Turns of the event loop until a failure is applied. There is no I/O."""


@activity
async def pay(name: str, context: Context = FILLED_IN) -> str:
    bank = BANK
    bank.calls[name].append((context.idempotency_key, context.attempt))
    bank.begun[name].set()
    if name in bank.gates:
        await bank.gates[name].wait()
    if name in bank.broken:
        raise ValueError(f"{name} is broken")
    return name


@workflow
async def two_steps(name: str) -> str:
    return await pay(f"{name}-one") + await pay(f"{name}-two")


@workflow
async def both() -> Any:
    return await gather(two_steps("a"), pay("bad"))


@workflow
async def race() -> Any:
    return await first(pay("a"), pay("bad"))


@workflow
async def many(limit: int) -> Any:
    async with parallel(limit=limit) as branches:
        for name in ("a", "bad", "b", "worse", "c"):
            branches.start(pay(name))
    return branches.results


@workflow
async def caught() -> Any:
    try:
        return await gather(pay("a"), pay("bad"))
    except ValueError as error:
        return str(error)


@workflow
async def caught_by_type() -> Any:
    try:
        return await gather(pay("bad"), two_steps("a"))
    except TypeError:
        return "wrong"


@pytest.fixture
def engine() -> Any:
    BANK.__init__()  # type: ignore[misc]
    made = Holdfast(entry_points=False, clock=VirtualClock(), definitions=[two_steps])
    yield made
    made.close()


def carried(engine: Holdfast, result: RunResult, of: Any) -> RunResult:
    return engine.runner.load(json.loads(json.dumps(result.state)), of)


async def fail_beside(engine: Holdfast, flow: Any, name: str, bad: str, inputs: Any = None) -> RunResult:
    """Run until `bad` fails while `name` runs; then let `name` end."""
    BANK.gates[name], BANK.gates[bad] = asyncio.Event(), asyncio.Event()
    BANK.broken.add(bad)
    running = engine.runner.start(flow, inputs)
    await BANK.begun[name].wait()
    BANK.gates[bad].set()
    for _ in range(TURNS):
        await asyncio.sleep(0)
    BANK.gates[name].set()
    return carried(engine, await running.result(), flow)


async def test_a_call_that_runs_beside_a_failure_ends_and_its_result_is_kept(engine: Holdfast) -> None:
    failed = await fail_beside(engine, both, "a-one", "bad")
    assert (failed.status, len(failed.incidents)) == (Status.FAULTED, 1)
    BANK.broken.clear()

    done = await engine.runner.retry(failed)

    assert done.outputs == {"result": ["a-onea-two", "bad"]}
    assert [len(BANK.calls[name]) for name in ("a-one", "a-two", "bad")] == [1, 1, 2]
    assert [attempt for _, attempt in BANK.calls["bad"]] == [1, 2]
    assert len({key for key, _ in BANK.calls["bad"]}) == 1


async def test_first_takes_the_result_that_came_after_the_failure_when_it_is_retried(engine: Holdfast) -> None:
    failed = await fail_beside(engine, race, "a", "bad")
    assert failed.status is Status.FAULTED

    done = await engine.runner.retry(failed)

    assert (done.status, done.outputs, done.incidents) == (Status.FINISHED, {"result": "a"}, [])
    assert [len(BANK.calls[name]) for name in ("a", "bad")] == [1, 1]


@pytest.mark.parametrize("limit", [1, 2, 5])
async def test_no_call_starts_while_a_failed_one_waits_for_its_retry(engine: Holdfast, limit: int) -> None:
    BANK.broken |= {"bad", "worse"}
    failed = await engine.runner.run(many, {"limit": limit})
    assert failed.status is Status.FAULTED
    BANK.broken.discard("bad")
    failed = await engine.runner.retry(carried(engine, failed, many))
    assert failed.status is Status.FAULTED
    BANK.broken.clear()

    done = await engine.runner.retry(carried(engine, failed, many))

    assert done.outputs == {"result": ["a", "bad", "b", "worse", "c"]}
    assert [len(BANK.calls[name]) for name in ("a", "b", "c")] == [1, 1, 1]
    assert all(len({key for key, _ in calls}) == 1 for calls in BANK.calls.values())


async def test_a_handler_that_catches_the_failure_cancels_the_other_calls(engine: Holdfast) -> None:
    BANK.gates["a"] = asyncio.Event()
    BANK.broken.add("bad")

    done = await engine.runner.run(caught)

    assert done.outputs == {"result": "bad is broken"}
    assert len(BANK.calls["a"]) == 1


async def test_a_further_failure_is_an_incident_of_its_own(engine: Holdfast) -> None:
    BANK.broken.add("a-one")
    failed = await fail_beside(engine, caught_by_type, "a-one", "bad")
    assert [item.message for item in failed.incidents] == ["bad is broken", "a-one is broken"]
    BANK.broken.clear()

    done = await engine.runner.retry(failed)

    assert done.outputs == {"result": ["bad", "a-onea-two"]}
    assert all(len({key for key, _ in calls}) == 1 for calls in BANK.calls.values())
