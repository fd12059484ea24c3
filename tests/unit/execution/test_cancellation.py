"""Cancellation of parts of an instance and of whole instances: what has begun to undo or to tidy up ends (rule M1)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Holdfast, Runner, RunResult, Status, Workflow, activity, compensate, wait_for, workflow
from holdfast.activities import Compensable, Compensate, Event, Fault, Fork, Sequence, Try, WriteLine
from holdfast.errors import InstanceAtRest
from holdfast.execution import delivery
from holdfast.model.instance import JournalEvent
from holdfast.testing.clock import VirtualClock
from tests.support.saga_stage import stage

Carry = Callable[[Runner, RunResult, Any], RunResult]
MINUTE = timedelta(minutes=1)


def asking(name: str) -> Compensable:
    """A work whose compensation waits."""
    undo = Sequence(WriteLine(f"ask {name}"), Event(name), WriteLine(f"undo {name}"))
    return Compensable(body=WriteLine(name), compensation=undo, key=name)


def mark(result: RunResult, event: str) -> str:
    (found,) = [item.id for item in result.bookmarks if item.kind == "activity" and item.payload["event_name"] == event]
    return found


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(jump=False)


@pytest.fixture
def timed(clock: VirtualClock) -> Runner:
    return Holdfast(entry_points=False, clock=clock).runner


def due(runner: Runner, result: RunResult) -> Any:
    (timer,) = [item.id for item in result._live.bookmarks.values() if item.kind == "timeout"]
    return runner.resume(result, timer)


async def test_the_timeout_of_a_try_runs_its_finally_part(timed: Runner) -> None:
    root = Try(body=Event("never"), finally_=WriteLine("tidy"), timeout=MINUTE)

    result = await due(timed, await timed.run(root))

    assert (result.status, result.lines) == (Status.FAULTED, ["tidy"])
    assert [item.type for item in result.incidents] == ["ActivityTimeout"]


async def test_a_timeout_lets_the_finally_part_of_a_try_end_that_has_begun(timed: Runner) -> None:
    root = Try(body=WriteLine("work"), finally_=Sequence(Event("may I"), WriteLine("tidy")), timeout=MINUTE)

    waiting = await due(timed, await timed.run(root))
    assert (waiting.status, waiting.incidents[0].type) == (Status.SUSPENDED, "ActivityTimeout")
    ended = await timed.resume(waiting, mark(waiting, "may I"))

    assert (ended.status, ended.lines) == (Status.FAULTED, ["work", "tidy"])


async def test_a_timeout_that_is_caught_lets_the_compensations_of_its_scope_end(timed: Runner) -> None:
    saga = Sequence(asking("a"), asking("b"), Compensate(), WriteLine("never"), timeout=MINUTE)
    root = Sequence(Try(body=saga, catches=[{"activity": WriteLine("caught")}]), WriteLine("after"))
    waiting = await due(timed, await timed.run(root))
    assert (waiting.status, waiting.lines) == (Status.SUSPENDED, ["a", "b", "ask b", "caught", "after"])
    waiting = await timed.resume(waiting, mark(waiting, "b"))
    ended = await timed.resume(waiting, mark(waiting, "a"))

    assert ended.lines[5:] == ["undo b", "ask a", "undo a"]
    assert ended.status is Status.FINISHED


async def test_compensations_of_two_branches_that_have_begun_are_not_begun_again(
    runner: Runner, through_json: Carry
) -> None:
    root = Fork(Sequence(asking("a"), Compensate("a")), Sequence(asking("b"), Compensate("b")))
    workflow = Workflow(Sequence(root, WriteLine("never")))
    waiting = await runner.run(workflow)
    assert sorted(waiting.lines) == ["a", "ask a", "ask b", "b"]

    waiting = await runner.cancel(through_json(runner, waiting, workflow))
    assert sorted(item.payload["event_name"] for item in waiting.bookmarks) == ["a", "b"]
    waiting = await runner.resume(through_json(runner, waiting, workflow), mark(waiting, "b"))
    ended = await runner.resume(through_json(runner, waiting, workflow), mark(waiting, "a"))

    assert ended.status is Status.CANCELED
    assert ended.lines == ["undo a"]


async def test_a_part_that_fails_under_cleanup_leaves_the_others_alone(runner: Runner) -> None:
    """Two `finally` parts run when the instance is canceled; one fails, the other goes on."""

    def part(name: str, last: Any) -> Try:
        return Try(body=WriteLine(name), finally_=Sequence(Event(name), last))

    root = Fork(part("a", Fault("no")), part("b", WriteLine("tidy b")))
    waiting = await runner.cancel(await runner.run(root))
    waiting = await runner.resume(waiting, mark(waiting, "a"))
    assert waiting.status is Status.CANCELING
    ended = await runner.resume(waiting, mark(waiting, "b"))

    assert (ended.status, ended.lines[-1]) == (Status.CANCELED, "tidy b")
    assert [item.message for item in ended.incidents] == ["no"]


async def test_work_that_a_finally_part_does_is_undone_too(runner: Runner) -> None:
    last = Compensable(body=WriteLine("late"), compensation=WriteLine("undo late"))
    result = await runner.cancel(await runner.run(Try(body=Event("never"), finally_=last)))

    assert (result.status, result.lines) == (Status.CANCELED, ["late", "undo late"])


async def test_the_cause_is_journaled_first_and_a_second_cancel_changes_nothing(runner: Runner) -> None:
    waiting = await runner.cancel(await runner.run(Try(body=Event("never"), finally_=Event("may I"))))
    before = len(waiting.journal)

    again = await runner.cancel(waiting)
    ended = await runner.resume(again)

    assert (again.status, len(again.journal)) == (Status.CANCELING, before)
    events = [(entry.event, entry.data) for entry in ended.journal if entry.event.startswith("instance_cancel")]
    assert events == [
        (JournalEvent.INSTANCE_CANCELING, {"cause": "canceled"}),
        (JournalEvent.INSTANCE_CANCELED, {"cause": "canceled"}),
    ]
    with pytest.raises(InstanceAtRest):
        delivery.cancel(ended._live)


async def test_terminate_ends_an_instance_that_is_being_canceled(runner: Runner) -> None:
    waiting = await runner.cancel(await runner.run(Try(body=Event("never"), finally_=Event("may I"))))
    ended = await runner.cancel(waiting, terminate=True)

    assert (ended.status, ended.bookmarks) == (Status.CANCELED, [])


@activity
async def act(name: str) -> None:
    await stage.perform("i", name)


@workflow
async def plain() -> None:
    await act("work")
    await compensate(act("undo work"))
    try:
        await act("more")
    finally:
        await act("lock begins to open")
        await wait_for("may open")
        await act("lock is open")


async def test_a_finally_block_of_a_function_that_the_normal_end_began_is_not_cut() -> None:
    stage.renew()
    app = Holdfast(entry_points=False)
    waiting = await app.runner.run(plain, instance_id="i")
    waiting = await app.runner.cancel(waiting)
    assert waiting.status is Status.CANCELING
    ended = await app.runner.resume(waiting)

    assert ended.status is Status.CANCELED
    begun = [entry[1:] for entry in stage.log["i"] if entry[0] == "+"]
    assert begun == ["work", "more", "lock begins to open", "lock is open", "undo work"]
