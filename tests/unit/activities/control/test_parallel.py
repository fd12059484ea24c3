"""Parallel, Fork and ParallelForEach."""

from __future__ import annotations

import asyncio

import pytest

from holdfast import Runner, Status, Workflow, activity, expr
from holdfast.activities import Delay, Event, Fault, Fork, Parallel, ParallelForEach, Sequence, WriteLine
from holdfast.api import IncidentStrategy
from holdfast.model.instance import JournalEvent


def branch(name: str) -> Sequence:
    return Sequence(Event(f"go {name}", id=f"event {name}"), WriteLine(name))


async def test_parallel_interleaves_breadth_first(runner: Runner) -> None:
    result = await runner.run(
        Sequence(
            Parallel(Sequence(WriteLine("a1"), WriteLine("a2")), Sequence(WriteLine("b1"), WriteLine("b2"))),
            WriteLine("end"),
        )
    )

    assert result.lines == ["a1", "b1", "a2", "b2", "end"]


async def test_parallel_completes_with_the_last(runner: Runner) -> None:
    waiting = await runner.run(Sequence(Parallel(branch("a"), branch("b"), WriteLine("c")), WriteLine("end")))
    once = await runner.resume(waiting, waiting.bookmark("event b"))
    twice = await runner.resume(once)

    assert once.lines == ["c", "b"]
    assert twice.lines == ["c", "b", "a", "end"]


async def test_nothing_at_once_completes_at_once(runner: Runner) -> None:
    result = await runner.run(
        Sequence(
            Parallel(),
            Fork(),
            ParallelForEach([], WriteLine("x")),
            ParallelForEach(None, WriteLine("x")),
            WriteLine("end"),
        )
    )

    assert result.lines == ["end"]


async def test_a_faulted_branch_does_not_keep_the_others_from_running(runner: Runner) -> None:
    root = Parallel(Sequence(Fault("bad")), Sequence(WriteLine("1"), WriteLine("2")))
    result = await runner.run(root)

    assert result.lines == ["1", "2"]
    assert result.status is Status.FAULTED


async def test_under_continue_with_incidents_the_instance_waits_for_someone_to_act(runner: Runner) -> None:
    root = Sequence(Parallel(Fault("bad"), WriteLine("1")), WriteLine("end"))
    result = await runner.run(Workflow(root, incident=IncidentStrategy.CONTINUE))

    assert result.lines == ["1"]
    assert result.status is Status.SUSPENDED
    assert [item.message for item in result.incidents] == ["bad"]


# -- fork --------------------------------------------------------------------------------------------------------------


async def test_fork_waits_for_all_by_default(runner: Runner) -> None:
    waiting = await runner.run(Sequence(Fork(branch("a"), branch("b")), WriteLine("end")))
    once = await runner.resume(waiting, waiting.bookmark("event a"))
    twice = await runner.resume(once)

    assert once.lines == ["a"]
    assert twice.lines == ["a", "b", "end"]


async def test_fork_wait_any_takes_the_first_and_cancels_the_others(runner: Runner) -> None:
    waiting = await runner.run(Sequence(Fork(branch("a"), branch("b"), branch("c"), join="wait_any"), WriteLine("end")))
    result = await runner.resume(waiting, waiting.bookmark("event b"))

    assert result.lines == ["b", "end"]
    assert result.bookmarks == []
    canceled = {entry.activity_id for entry in result.journal if entry.event is JournalEvent.CANCELED}
    assert {"event a", "event c"} <= canceled


async def test_fork_wait_any_with_sequences_that_never_wait_runs_one_to_its_end(runner: Runner) -> None:
    result = await runner.run(
        Sequence(
            Fork(Sequence(WriteLine("a")), Sequence(WriteLine("b"), WriteLine("b2")), join="wait_any"), WriteLine("end")
        )
    )

    assert result.lines == ["a", "end"]


async def test_queued_siblings_of_the_first_still_run_as_in_elsa(runner: Runner) -> None:
    result = await runner.run(Sequence(Fork(WriteLine("a"), WriteLine("b"), join="wait_any"), WriteLine("end")))

    assert sorted(result.lines) == ["a", "b", "end"]


async def test_but_they_leave_nothing_behind(runner: Runner) -> None:
    fork = Fork(WriteLine("first"), Sequence(WriteLine("late"), Event("orphan"), WriteLine("never")), join="wait_any")
    waiting = await runner.run(Sequence(fork, Event("after", id="after"), WriteLine("end")))

    assert [item.activity_id for item in waiting.bookmarks] == ["after"]
    assert (await runner.resume(waiting)).status is Status.FINISHED


async def test_a_race_with_a_delay(runner: Runner) -> None:
    from datetime import timedelta

    root = Fork(branch("never"), Sequence(Delay(timedelta(hours=1)), WriteLine("too late")), join="wait_any")
    result = await runner.run(root, wait=True)

    assert result.lines == ["too late"]
    assert result.status is Status.FINISHED


# -- effects at the same time ------------------------------------------------------------------------------------------


async def test_effects_of_parallel_branches_run_at_the_same_time(runner: Runner) -> None:
    started = {"a": asyncio.Event(), "b": asyncio.Event()}

    @activity
    async def meet(own: str, other: str) -> str:
        started[own].set()
        await started[other].wait()
        return own

    root = Parallel(meet.bind("a", "b", result="x"), meet.bind("b", "a", result="y"))
    result = await runner.run(Workflow(root, variables={"x": None, "y": None}))

    assert result.status is Status.FINISHED
    assert result.variables == {"x": "a", "y": "b"}


@pytest.mark.parametrize("limit", [1, 2, 5])
async def test_never_more_bodies_at_work_than_the_limit(runner: Runner, limit: int) -> None:
    flying, most, full = 0, 0, asyncio.Event()

    @activity
    async def fly(n: int) -> int:
        nonlocal flying, most
        flying += 1
        most = max(most, flying)
        if flying == limit or n >= 10 - limit:
            full.set()
        await full.wait()
        await asyncio.sleep(0)
        flying -= 1
        return n

    root = ParallelForEach(list(range(10)), fly.bind(expr("CurrentValue")), limit=limit)
    result = await runner.run(root)

    assert result.status is Status.FINISHED
    assert most == limit


async def test_a_limit_below_one_is_a_fault(runner: Runner) -> None:
    result = await runner.run(ParallelForEach([1], WriteLine("x"), limit=0))

    assert result.status is Status.FAULTED
    assert "limit" in result.incidents[0].message


async def test_each_body_of_a_parallel_foreach_has_its_own_variables(runner: Runner) -> None:
    body = Sequence(Event("go"), WriteLine(expr("CurrentValue + str(CurrentIndex)")))
    waiting = await runner.run(ParallelForEach(["a", "b", "c"], body))
    for position in (2, 0, 0):
        waiting = await runner.resume(waiting, waiting.bookmarks[position])

    assert waiting.lines == ["c2", "a0", "b1"]
    assert waiting.status is Status.FINISHED


async def test_a_faulted_item_leaves_the_others_alone(runner: Runner) -> None:
    @activity(pure=True)
    def check(word: str) -> str:
        if word == "b":
            raise ValueError(word)
        return word

    body = Sequence(check.bind(expr("CurrentValue")), WriteLine(expr("CurrentValue")))
    result = await runner.run(ParallelForEach(["a", "b", "c"], body))

    assert result.lines == ["a", "c"]
    assert result.status is Status.FAULTED
