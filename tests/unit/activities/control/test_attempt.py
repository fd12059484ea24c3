"""Try: catch by type, finally in any case, nested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from holdfast import Activity, Runner, RunResult, Status, Workflow, activity, expr
from holdfast.activities import Complete, Event, Fault, Finish, ForEach, Fork, Parallel, Sequence, Try, WriteLine

Carry = Callable[[Runner, RunResult, Any], RunResult]


class Declined(ValueError):
    pass


@activity(pure=True, name="decline")
def decline(reason: str) -> None:
    raise Declined(reason)


@activity(name="decline_outside")
async def decline_outside(reason: str) -> None:
    raise Declined(reason)


def caught(*errors: str, line: str = "caught") -> dict[str, Any]:
    return {
        "errors": list(errors),
        "activity": WriteLine(expr(f"{line!r} + ' ' + Error['type'] + ': ' + Error['message']")),
    }


@pytest.mark.parametrize("failing", [decline.bind("no"), decline_outside.bind("no")])
@pytest.mark.parametrize("names", [("Declined",), ("ValueError",), ("Exception",), ("Other", "Declined"), ()])
async def test_a_catch_takes_the_type_or_a_base_of_it(
    runner: Runner, failing: Activity, names: tuple[str, ...]
) -> None:
    result = await runner.run(Sequence(Try(body=failing, catches=[caught(*names)]), WriteLine("after")))

    assert result.lines == ["caught Declined: no", "after"]
    assert result.incidents == []
    assert result.status is Status.FINISHED


async def test_the_first_catch_that_fits_is_taken(runner: Runner) -> None:
    catches = [caught("KeyError", line="1"), caught("ValueError", line="2"), caught(line="3")]
    result = await runner.run(Try(body=decline.bind("no"), catches=catches))

    assert result.lines == ["2 Declined: no"]


async def test_a_fault_that_nobody_catches_runs_finally_and_goes_on(runner: Runner) -> None:
    inner = Try(body=decline.bind("no"), catches=[caught("KeyError")], finally_=WriteLine("finally"))
    result = await runner.run(Sequence(inner, WriteLine("never")))

    assert result.lines == ["finally"]
    assert result.status is Status.FAULTED
    assert [item.type for item in result.incidents] == ["Declined"]


async def test_an_empty_catch_swallows(runner: Runner) -> None:
    result = await runner.run(
        Sequence(Try(body=Fault("x"), catches=[{"errors": []}], finally_=WriteLine("f")), WriteLine("after"))
    )

    assert result.lines == ["f", "after"]


async def test_finally_runs_after_body_and_after_catch(runner: Runner) -> None:
    good = Try(body=WriteLine("body"), finally_=WriteLine("f1"))
    bad = Try(body=Fault("x"), catches=[{"activity": WriteLine("catch")}], finally_=WriteLine("f2"))
    result = await runner.run(Sequence(good, bad, Try(finally_=WriteLine("f3")), Try()))

    assert result.lines == ["body", "f1", "catch", "f2", "f3"]
    assert result.status is Status.FINISHED


async def test_nested_finally_run_from_the_inside_out(runner: Runner) -> None:
    inner = Try(body=decline.bind("no"), finally_=WriteLine("inner"))
    middle = Try(body=inner, catches=[caught("KeyError")], finally_=WriteLine("middle"))
    result = await runner.run(Try(body=middle, catches=[caught("Declined")], finally_=WriteLine("outer")))

    assert result.lines == ["inner", "middle", "caught Declined: no", "outer"]


async def test_a_fault_in_finally_replaces_the_first(runner: Runner) -> None:
    inner = Try(body=Fault("first"), finally_=decline.bind("second"))
    result = await runner.run(Try(body=inner, catches=[caught()]))

    assert result.lines == ["caught Declined: second"]


async def test_a_fault_in_a_catch_runs_finally_and_goes_on(runner: Runner) -> None:
    inner = Try(body=Fault("first"), catches=[{"activity": decline.bind("second")}], finally_=WriteLine("f"))
    result = await runner.run(Try(body=inner, catches=[caught()]))

    assert result.lines == ["f", "caught Declined: second"]


async def test_a_catch_cancels_what_else_ran_in_the_body(runner: Runner) -> None:
    sleeper = Try(body=Event("never"), finally_=WriteLine("cleaned"))
    body = Parallel(sleeper, Sequence(WriteLine("x"), Fault("bad")))
    waiting = await runner.run(
        Sequence(Try(body=body, catches=[{"activity": WriteLine("caught")}]), Event("after", id="after"))
    )

    assert sorted(waiting.lines) == ["caught", "cleaned", "x"]
    assert [item.activity_id for item in waiting.bookmarks] == ["after"]


async def test_finally_runs_when_the_instance_is_canceled_innermost_first(runner: Runner) -> None:
    inner = Try(body=Event("never"), finally_=WriteLine("inner"))
    waiting = await runner.run(Sequence(Try(body=Sequence(inner), finally_=WriteLine("outer")), WriteLine("never")))
    result = await runner.cancel(waiting)

    assert result.lines == ["inner", "outer"]
    assert result.status is Status.CANCELED


async def test_terminate_runs_no_finally(runner: Runner) -> None:
    waiting = await runner.run(Try(body=Event("never"), finally_=WriteLine("finally")))
    result = await runner.cancel(waiting, terminate=True)

    assert result.lines == []
    assert result.status is Status.CANCELED


async def test_finally_may_wait_and_do_effects_while_it_is_canceled(runner: Runner, through_json: Carry) -> None:
    @activity
    async def tidy() -> str:
        return "tidy"

    last = Sequence(tidy.bind(result="x"), Event("confirm"), WriteLine(expr("x")))
    workflow = Workflow(Try(body=Event("never"), finally_=last), variables={"x": None})
    canceling = await runner.cancel(await runner.run(workflow))

    assert canceling.status is Status.CANCELING
    assert [item.payload for item in canceling.bookmarks] == [{"event_name": "confirm"}]
    ended = await runner.resume(through_json(runner, canceling, workflow))
    assert ended.lines == ["tidy"]
    assert ended.status is Status.CANCELED


async def test_canceling_twice_is_canceling_once_and_terminate_ends_it(runner: Runner) -> None:
    waiting = await runner.run(Try(body=Event("never"), finally_=Sequence(Event("confirm"), WriteLine("f"))))
    once = await runner.cancel(waiting)
    twice = await runner.cancel(once)
    ended = await runner.resume(twice)
    terminated = await runner.cancel(twice, terminate=True)

    assert [item.payload for item in twice.bookmarks] == [{"event_name": "confirm"}]
    assert (ended.status, ended.lines) == (Status.CANCELED, ["f"])
    assert (terminated.status, terminated.lines, terminated.bookmarks) == (Status.CANCELED, [], [])


async def test_a_finally_that_fails_while_it_is_canceled_does_not_stop_the_others(runner: Runner) -> None:
    inner = Try(body=Event("never"), finally_=Sequence(WriteLine("inner"), Fault("cannot tidy"), WriteLine("no")))
    waiting = await runner.run(Try(body=inner, finally_=WriteLine("outer")))
    result = await runner.cancel(waiting)

    assert result.lines == ["inner", "outer"]
    assert result.status is Status.CANCELED
    assert [item.message for item in result.incidents] == ["cannot tidy"]


@pytest.mark.parametrize("ending", [Finish, Complete])
async def test_finally_runs_when_the_workflow_is_ended_from_inside(runner: Runner, ending: type[Activity]) -> None:
    body = Sequence(WriteLine("body"), ending(), WriteLine("never"))
    result = await runner.run(Sequence(Try(body=body, finally_=WriteLine("finally")), WriteLine("never")))

    assert result.lines == ["body", "finally"]
    assert result.status is Status.FINISHED


@pytest.mark.parametrize("ending", [Finish, Complete])
async def test_ending_the_workflow_in_finally_ends_that_finally(runner: Runner, ending: type[Activity]) -> None:
    inner = Try(body=Event("never"), finally_=Sequence(WriteLine("inner"), ending(), WriteLine("never")))
    waiting = await runner.run(Try(body=inner, finally_=WriteLine("outer")))
    result = await runner.cancel(waiting)

    assert result.lines == ["inner", "outer"]
    assert result.status is Status.CANCELED


async def test_the_loser_of_a_race_runs_its_finally(runner: Runner) -> None:
    loser = Try(body=Event("never"), finally_=WriteLine("tidy"))
    waiting = await runner.run(Sequence(Fork(loser, Event("go", id="go"), join="wait_any"), WriteLine("end")))
    result = await runner.resume(waiting, waiting.bookmark("go"))

    assert sorted(result.lines) == ["end", "tidy"]
    assert result.status is Status.FINISHED


async def test_a_fault_is_caught_after_a_wait_in_another_process(runner: Runner, through_json: Carry) -> None:
    workflow = Workflow(Try(body=Sequence(Event("go"), decline_outside.bind("late")), catches=[caught("ValueError")]))
    waiting = through_json(runner, await runner.run(workflow), workflow)
    result = await runner.resume(waiting)

    assert result.lines == ["caught Declined: late"]


async def test_a_fault_that_waits_for_finally_survives_a_trip_through_json(runner: Runner, through_json: Carry) -> None:
    inner = Try(body=decline.bind("pending"), finally_=Event("tidy up"))
    workflow = Workflow(Try(body=inner, catches=[caught("Declined", line="1"), caught(line="2")]))
    waiting = through_json(runner, await runner.run(workflow), workflow)
    result = await runner.resume(waiting)

    assert result.lines == ["1 Declined: pending"]
    assert result.status is Status.FINISHED


async def test_each_pass_of_a_loop_has_its_own_try(runner: Runner) -> None:
    body = Try(body=decline.bind(expr("CurrentValue")), catches=[caught()], finally_=WriteLine("f"))
    result = await runner.run(ForEach(["a", "b"], body))

    assert result.lines == ["caught Declined: a", "f", "caught Declined: b", "f"]
