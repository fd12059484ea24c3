"""Effects that do not heed their cancellation: their time ends all the same, once the grace is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

from holdfast import Holdfast, Retry, Status, Workflow, activity
from holdfast.model.instance import JournalEvent
from tests.support.probe import probe

SHORT = timedelta(milliseconds=20)
WITHIN = 20


@activity
async def stubborn() -> str:
    """Goes on until the gate is open, whoever cancels it."""
    probe.calls.append("stubborn")
    while not probe.gate.is_set():
        with suppress(asyncio.CancelledError):
            await probe.gate.wait()
    probe.canceled.set()
    return "late"


@activity
async def tidy() -> str:
    """Ends its work when it is canceled, and says what came of it."""
    with suppress(asyncio.CancelledError):
        await probe.gate.wait()
    return "in good order"


@asynccontextmanager
async def soon() -> AsyncIterator[None]:
    """Within a time that is long for this; those that are left are let go, or this loop would never end."""
    try:
        async with asyncio.timeout(WITHIN):
            yield
    except TimeoutError:
        probe.gate.set()
        raise


async def test_one_that_swallows_its_cancellation_times_out_after_the_grace(cluster: Any) -> None:
    a = await cluster.node("a", activities=[stubborn], cancel_grace=SHORT)
    identity = (await a.start(Workflow(stubborn.bind(timeout=SHORT), id="stubborn"))).result.instance_id
    async with soon():
        ended = await a.wait_at_rest(identity)
    assert ended.status is Status.FAULTED
    assert [item.type for item in ended.incidents] == ["ActivityTimeout"]

    probe.gate.set()  # What it says then, nobody hears.
    await probe.canceled.wait()
    after = await a.settle(identity)
    assert after.status is Status.FAULTED
    assert JournalEvent.EFFECT_RESULT not in {entry.event for entry in await a.journal(identity)}
    await cluster.check(a, identity)


async def test_its_next_attempt_begins_beside_it(cluster: Any) -> None:
    a = await cluster.node("a", activities=[stubborn], cancel_grace=SHORT)
    again = Retry(attempts=2, delay=timedelta(milliseconds=1), jitter=0)
    workflow = Workflow(stubborn.bind(timeout=SHORT, retry=again), id="stubborn")
    identity = (await a.start(workflow)).result.instance_id
    a.take_work()
    async with soon():
        ended = await a.wait_at_rest(identity)
    assert [(item.type, item.attempt) for item in ended.incidents] == [("ActivityTimeout", 2)]
    assert len(probe.calls) == 2
    probe.gate.set()
    await probe.canceled.wait()


async def test_what_ends_within_the_grace_has_a_result(cluster: Any) -> None:
    a = await cluster.node("a", activities=[tidy])
    workflow = Workflow(tidy.bind(timeout=SHORT, result="said"), id="tidy", variables={"said": ""})
    identity = (await a.start(workflow)).result.instance_id
    ended = await a.wait_at_rest(identity)
    assert (ended.status, ended.variables["said"]) == (Status.FINISHED, "in good order")


async def test_the_runner_leaves_it_alone_too() -> None:
    runner = Holdfast(entry_points=False, cancel_grace=SHORT).runner
    async with soon():
        ended = await runner.run(Workflow(stubborn.bind(timeout=SHORT), id="stubborn"))
    assert [item.type for item in ended.incidents] == ["ActivityTimeout"]
    probe.gate.set()
    await probe.canceled.wait()
