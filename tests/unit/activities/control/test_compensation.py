"""Sagas: completed work is taken back in reverse order, over suspensions and on cancel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast import Activity, Runner, RunResult, Status, Workflow, activity, expr
from holdfast.activities import Compensable, Compensate, Event, Fault, ForEach, Fork, Sequence, Try, WriteLine
from holdfast.model.instance import JournalEvent

Carry = Callable[[Runner, RunResult, Any], RunResult]


def step(name: str, body: Activity | None = None, **more: Any) -> Compensable:
    return Compensable(body=body or WriteLine(name), compensation=WriteLine(f"undo {name}"), **more)


async def test_compensate_undoes_the_last_first(runner: Runner) -> None:
    result = await runner.run(Sequence(step("a"), step("b"), Compensate(), WriteLine("end"), Compensate()))

    assert result.lines == ["a", "b", "undo b", "undo a", "end"]


async def test_only_what_has_completed_is_undone(runner: Runner) -> None:
    failing = step("b", Fault("no"))
    root = Try(body=Sequence(step("a"), failing, step("c")), catches=[{"activity": Compensate()}])
    result = await runner.run(root)

    assert result.lines == ["a", "undo a"]
    assert result.status is Status.FINISHED


async def test_compensate_can_name_a_key(runner: Runner) -> None:
    root = Sequence(
        step("a", key="x"), step("b", key="y"), step("c", key="x"), Compensate("x"), WriteLine("-"), Compensate()
    )
    result = await runner.run(root)

    assert result.lines == ["a", "b", "c", "undo c", "undo a", "-", "undo b"]


async def test_what_was_done_before_a_wait_is_undone_after_it(runner: Runner, through_json: Carry) -> None:
    workflow = Workflow(Sequence(step("a"), Event("1"), step("b"), Event("2"), Compensate()))
    result = through_json(runner, await runner.run(workflow), workflow)
    result = through_json(runner, await runner.resume(result), workflow)
    result = await runner.resume(result)

    assert result.lines == ["undo b", "undo a"]
    assert result.status is Status.FINISHED


async def test_a_compensation_sees_the_variables_of_its_own_pass(runner: Runner, through_json: Carry) -> None:
    body = Compensable(body=WriteLine(expr("CurrentValue")), compensation=WriteLine(expr("'undo ' + CurrentValue")))
    workflow = Workflow(Sequence(ForEach(["a", "b"], body), Event("go"), Compensate()))
    waiting = await runner.run(workflow)
    result = await runner.resume(through_json(runner, waiting, workflow))

    assert result.lines == ["undo b", "undo a"]


async def test_canceling_the_instance_undoes_everything_after_finally(runner: Runner) -> None:
    root = Sequence(step("a"), step("b"), Try(body=Event("never"), finally_=WriteLine("finally")))
    result = await runner.cancel(await runner.run(root))

    assert result.lines == ["a", "b", "finally", "undo b", "undo a"]
    assert result.status is Status.CANCELED


async def test_terminate_undoes_nothing(runner: Runner) -> None:
    result = await runner.cancel(await runner.run(Sequence(step("a"), Event("never"))), terminate=True)

    assert result.lines == ["a"]
    assert result.status is Status.CANCELED


async def test_compensations_may_be_effects_and_may_wait(runner: Runner, through_json: Carry) -> None:
    undone: list[str] = []

    @activity
    async def refund(name: str) -> None:
        undone.append(name)

    def paid(name: str) -> Compensable:
        return Compensable(
            body=WriteLine(name),
            compensation=Sequence(Event(f"may I {name}"), refund.bind(name), WriteLine(f"undo {name}")),
        )

    workflow = Workflow(Sequence(paid("a"), paid("b"), Event("never")))
    result = await runner.cancel(await runner.run(workflow))
    asked = [item.payload["event_name"] for item in result.bookmarks]
    result = await runner.resume(through_json(runner, result, workflow))
    result = await runner.resume(through_json(runner, result, workflow))

    assert asked == ["may I b"]
    assert undone == ["b", "a"]
    assert result.status is Status.CANCELED


async def test_a_compensation_that_fails_on_cancel_does_not_stop_the_others(runner: Runner) -> None:
    bad = Compensable(body=WriteLine("b"), compensation=Fault("cannot"))
    result = await runner.cancel(await runner.run(Sequence(step("a"), bad, step("c"), Event("never"))))

    assert result.lines == ["a", "b", "c", "undo c", "undo a"]
    assert result.status is Status.CANCELED
    assert [item.message for item in result.incidents] == ["cannot"]


async def test_the_journal_names_what_was_undone(runner: Runner) -> None:
    result = await runner.run(Sequence(step("a", id="first"), Compensate()))

    undone = [entry.data for entry in result.journal if entry.event is JournalEvent.COMPENSATED]
    assert [item["key"] for item in undone] == ["first"]


async def test_empty_ones_complete(runner: Runner) -> None:
    result = await runner.run(Sequence(Compensable(), Compensable(compensation=WriteLine("undo")), Compensate()))

    assert result.lines == ["undo"]
    assert result.status is Status.FINISHED


async def test_canceling_while_a_compensation_waits_lets_it_go_on(runner: Runner, through_json: Carry) -> None:
    def asking(name: str) -> Compensable:
        undo = Sequence(WriteLine(f"ask {name}"), Event(name), WriteLine(f"undo {name}"))
        return Compensable(body=WriteLine(name), compensation=undo)

    workflow = Workflow(Sequence(asking("a"), asking("b"), Compensate(), WriteLine("never")))
    waiting = await runner.run(workflow)
    assert waiting.lines == ["a", "b", "ask b"]

    waiting = await runner.cancel(through_json(runner, waiting, workflow))
    assert (waiting.status, waiting.lines) == (Status.CANCELING, [])
    waiting = await runner.resume(through_json(runner, waiting, workflow))
    assert waiting.lines == ["undo b", "ask a"]
    ended = await runner.resume(through_json(runner, waiting, workflow))

    assert (ended.status, ended.lines) == (Status.CANCELED, ["undo a"])


async def test_a_compensation_goes_on_when_its_branch_is_canceled(runner: Runner, through_json: Carry) -> None:
    undo = Sequence(Event("may I"), WriteLine("undo a"))
    saga = Sequence(Compensable(body=WriteLine("a"), compensation=undo), Compensate(), WriteLine("never"))
    workflow = Workflow(Sequence(Fork(saga, Event("enough"), join="wait_any"), WriteLine("after")))
    waiting = await runner.run(workflow)

    waiting = await runner.resume(through_json(runner, waiting, workflow), waiting.bookmarks[0])
    assert (waiting.status, waiting.lines) == (Status.SUSPENDED, ["after"])
    ended = await runner.resume(through_json(runner, waiting, workflow))

    assert (ended.status, ended.lines) == (Status.FINISHED, ["undo a"])


async def test_terminating_ends_a_compensation_that_waits(runner: Runner, through_json: Carry) -> None:
    undo = Sequence(Event("may I"), WriteLine("undo a"))
    workflow = Workflow(Sequence(Compensable(body=WriteLine("a"), compensation=undo), Compensate()))
    waiting = await runner.run(workflow)

    ended = await runner.cancel(through_json(runner, waiting, workflow), terminate=True)

    assert (ended.status, ended.lines, ended.bookmarks) == (Status.CANCELED, [], [])


async def test_canceling_after_a_compensation_failed_ends_it(runner: Runner, through_json: Carry) -> None:
    bad = Compensable(body=WriteLine("b"), compensation=Sequence(WriteLine("try"), Fault("cannot")))
    workflow = Workflow(Sequence(step("a"), bad, Compensate()))
    faulted = await runner.run(workflow)
    assert faulted.status is Status.FAULTED

    ended = await runner.cancel(through_json(runner, faulted, workflow))

    assert (ended.status, ended.lines) == (Status.CANCELED, ["undo a"])
