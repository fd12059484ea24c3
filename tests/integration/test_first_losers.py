"""The losers of `first` are really canceled, wherever they run; the winner does not wait for them (rule M1)."""

from __future__ import annotations

import asyncio
import importlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast import Context, Status, Workflow, activity, expr, first, workflow
from holdfast.activities import Fork, Try
from holdfast.testing.clock import VirtualClock
from tests.support.memory_node import MemoryNode
from tests.support.saga_stage import stage

ROOM = "first-losers-room"
thread_begun, thread_saw_it, thread_may_end = threading.Event(), threading.Event(), threading.Event()


@activity
async def slow(instance: str) -> str:
    await stage.perform(instance, "slow")
    return "slow"


@activity(queue=ROOM)
async def slow_step(instance: str) -> str:
    await stage.perform(instance, "slow")
    return "slow"


@activity
async def quick(instance: str) -> str:
    """Ends as soon as the loser has begun."""
    await stage.reached(instance, "+slow")
    return "quick"


@activity
async def at_once() -> str:
    return "quick"


@activity
async def after_thread() -> str:
    await asyncio.to_thread(thread_begun.wait, 20)
    return "quick"


@activity
def in_thread(context: Context) -> str:
    """Plain code: it has to look whether it was canceled."""
    thread_begun.set()
    while not context.canceled:
        thread_may_end.wait(0.001)
    thread_saw_it.set()
    thread_may_end.wait(30)
    return "thread"


@workflow
async def race(instance: str) -> str:
    return await first(slow(instance), quick(instance))


@workflow
async def race_of_a_step(instance: str) -> str:
    return await first(slow_step(instance), quick(instance))


@workflow
async def race_of_an_unclaimed_step(instance: str) -> str:
    return await first(slow_step(instance), at_once())


@activity
async def tidy(instance: str) -> None:
    await stage.perform(instance, "tidy")


ALL = [slow, slow_step, quick, at_once, after_thread, in_thread, tidy]


def race_of_a_thread() -> Workflow:
    return Workflow(Fork(in_thread.bind(), after_thread.bind(), join="wait_any"), id="race-thread")


def race_with_finally() -> Workflow:
    name = expr("instance")
    guarded = Try(body=slow.bind(instance=name), finally_=tidy.bind(instance=name))
    return Workflow(
        Fork(guarded, quick.bind(instance=name), join="wait_any"), id="race-finally", inputs={"instance": str}
    )


@pytest.fixture(autouse=True)
def _fresh() -> None:
    stage.renew()
    for event in (thread_begun, thread_saw_it, thread_may_end):
        event.clear()


async def test_an_async_loser_is_canceled_and_the_winner_does_not_wait(cluster: Any) -> None:
    node = await cluster.node("a", activities=ALL)
    identity = await started(node, race)
    ended = await node.wait_at_rest(identity)
    assert ended.status is Status.FINISHED
    await stage.reached(identity, "!slow")
    assert "-slow" not in stage.log[identity]
    stage.release[identity].set()
    await stage.reached(identity, "-slow")
    assert list(await node.store.effects_of(cluster.tenant, identity)) == []


async def test_the_owner_of_a_losing_step_is_told(cluster: Any) -> None:
    node = await cluster.node("a", work=True, activities=ALL)
    worker = await cluster.node("b", work=True, queues=(ROOM,), activities=ALL)
    identity = await started(node, race_of_a_step)
    assert (await node.wait_at_rest(identity)).outputs["result"] == "quick"
    async with asyncio.timeout(30):
        await stage.reached(identity, "!slow")
    stage.release[identity].set()
    await worker.settled(identity)
    assert list(await node.store.effects_of(cluster.tenant, identity)) == []


async def test_a_losing_step_that_no_worker_has_claimed_never_runs(cluster: Any) -> None:
    node = await cluster.node("a", work=True, activities=ALL)
    result = (await node.start(race_of_an_unclaimed_step, {"instance": ""})).result
    ended = await node.wait_at_rest(result.instance_id)
    assert ended.outputs["result"] == "quick"
    export = await node.store.export_instance(cluster.tenant, result.instance_id)
    assert (export.effects, export.work) == ((), ())


async def test_a_loser_in_a_thread_sees_its_flag_and_counts_as_lost_until_it_returns() -> None:
    async with MemoryNode(clock=VirtualClock(jump=False), activities=ALL) as memory:
        runtime, pools = memory.runtime, memory.engine._pools
        await runtime.start(race_of_a_thread(), instance_id="i")
        assert (await runtime.wait_at_rest("i")).status is Status.FINISHED
        assert await asyncio.to_thread(thread_saw_it.wait, 20)
        assert pools.lost == 1
        thread_may_end.set()
        while pools.lost:  # noqa: ASYNC110 - a thread counts it down, which no event reports
            await asyncio.sleep(0)


CODE = """
import os, time
from pathlib import Path
from holdfast import activity

@activity(cpu=True)
def burn(mark: str) -> None:
    made = Path(mark + ".new")
    made.write_text(str(os.getpid()))
    made.rename(mark)
    time.sleep(600)
"""


@activity
async def after_mark(mark: str) -> str:
    await asyncio.to_thread(wait_until, Path(mark).exists)
    return "quick"


def wait_until(condition: Callable[[], bool]) -> None:
    """In a thread: no event reports what another process does."""
    while not condition():
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def test_the_process_of_a_loser_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "losing_work_for_tests.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    burn = importlib.import_module("losing_work_for_tests").burn
    mark = str(tmp_path / "mark")
    root = Fork(burn.bind(mark=mark), after_mark.bind(mark=mark), join="wait_any")
    async with MemoryNode(clock=VirtualClock(jump=False), activities=[burn, after_mark]) as memory:
        await memory.runtime.start(Workflow(root, id="race-process"), instance_id="i")
        assert (await memory.runtime.wait_at_rest("i")).status is Status.FINISHED
        await asyncio.to_thread(wait_until, lambda: is_gone(int(Path(mark).read_text())))


async def test_the_finally_part_of_a_loser_waits_for_its_end(cluster: Any) -> None:
    """And the instance waits for the `finally` part."""
    node = await cluster.node("a", work=True, activities=ALL)
    other = await cluster.node("b", work=True, activities=ALL)
    identity = await started(node, race_with_finally())
    await stage.reached(identity, "!slow")
    waiting = await other.read(identity)
    assert waiting.status is Status.RUNNING
    assert len(waiting._live.ending) == 1
    assert "+tidy" not in stage.log[identity]
    stage.release[identity].set()
    assert (await node.wait_at_rest(identity)).status is Status.FINISHED
    assert stage.log[identity][-3:] == ["-slow", "+tidy", "-tidy"]
    await cluster.check(node, identity)


async def started(node: Any, workflow: Any) -> str:
    """Start a race whose loser stops when it has begun."""
    identity = f"{node.tenant}-race"
    stage.stops[identity].add("slow")
    await node.start(workflow, {"instance": identity}, instance_id=identity)
    return identity
