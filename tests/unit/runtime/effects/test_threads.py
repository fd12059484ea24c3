"""Plain functions as effects: they run in threads, of which there are few."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest

from holdfast import Context, Holdfast, Retry, Runner, Status, Workflow, activity
from holdfast.activities import Parallel, Sequence

Make = Callable[..., Holdfast]


async def test_a_plain_function_runs_in_a_thread(runner: Runner) -> None:
    @activity
    def where() -> bool:
        return threading.current_thread() is threading.main_thread()

    result = await runner.run(Workflow(where.bind(result="main"), variables={"main": None}))

    assert result.variables == {"main": False}


async def test_threads_are_bounded(make_engine: Make) -> None:
    lock, both = threading.Lock(), threading.Barrier(2)
    flying, most = 0, 0

    @activity
    def fly() -> None:
        nonlocal flying, most
        with lock:
            flying += 1
            most = max(most, flying)
        both.wait()
        with lock:
            flying -= 1

    runner = make_engine(threads_max=2).runner
    result = await runner.run(Parallel(*(fly.bind() for _ in range(6))))

    assert result.status is Status.FINISHED
    assert most == 2


@pytest.mark.parametrize("threads_max", [1, 2, 32])
async def test_a_result_does_not_wait_for_a_neighbour_that_blocks(make_engine: Make, threads_max: int) -> None:
    """However few threads there are: those who block here end only when what was done before them is known."""
    release = threading.Event()

    @activity
    def quick() -> None: ...

    @activity
    def slow() -> None:
        release.wait()

    @activity
    async def let_go() -> None:
        release.set()

    branches = [*(quick.bind() for _ in range(5)), Sequence(quick.bind(), let_go.bind())]
    behind = [Sequence(slow.bind(), quick.bind()) for _ in range(3)]
    result = await make_engine(threads_max=threads_max).runner.run(Parallel(*branches, *behind))
    assert result.status is Status.FINISHED


async def test_what_is_canceled_before_a_thread_takes_it_never_begins(make_engine: Make) -> None:
    began, release, begun = threading.Event(), threading.Event(), list[str]()

    @activity
    def hold() -> None:
        began.set()
        release.wait()

    @activity
    def other() -> None:
        begun.append("other")

    engine = make_engine(threads_max=1)
    first = asyncio.create_task(engine.runner.run(hold.bind()))
    await asyncio.to_thread(began.wait)
    second = asyncio.create_task(engine.runner.run(other.bind()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait([second])
    assert engine._pools.lost == 0
    release.set()
    assert (await first).status is Status.FINISHED
    assert begun == []


async def test_a_thread_that_takes_too_long_is_told_and_left(make_engine: Make) -> None:
    """However slow the machine is: attempts that find no thread in time are only some more."""
    release, left, begun, seen = threading.Event(), threading.Event(), list[int](), list[bool]()

    @activity(timeout=timedelta(milliseconds=20), retry=Retry(attempts=1_000))
    def slow(context: Context) -> str:
        begun.append(context.attempt)
        if len(begun) == 1:
            release.wait()
            seen.append(context.canceled)
            left.set()
            return "too late"
        return f"attempt {context.attempt}, canceled: {context.canceled}"

    engine = make_engine()
    result = await engine.runner.run(Workflow(slow.bind(result="x"), variables={"x": None}), wait=True)
    assert result.variables == {"x": f"attempt {max(begun)}, canceled: False"}
    assert engine._pools.lost >= 1
    release.set()
    await asyncio.to_thread(left.wait)
    assert seen == [True]


async def test_cancel_reaches_a_thread_by_its_flag(runner: Runner) -> None:
    started, ended = threading.Event(), threading.Event()

    @activity
    def long(context: Context) -> None:
        started.set()
        while not context.canceled:
            pass
        ended.set()

    running = runner.start(long.bind())
    await asyncio.to_thread(started.wait)
    running.cancel()
    result = await running.result()
    await asyncio.to_thread(ended.wait)

    assert result.status is Status.CANCELED
