"""For, ForEach, While, DoWhile; Break and Continue."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Activity, Runner, Status, Workflow, expr, variable
from holdfast.activities import (
    Break,
    Continue,
    DoWhile,
    Event,
    Flowchart,
    For,
    ForEach,
    Fork,
    If,
    Parallel,
    ParallelForEach,
    Sequence,
    SetVariable,
    Try,
    While,
    WriteLine,
)

CURRENT = expr("CurrentValue")


def say_current() -> WriteLine:
    return WriteLine(CURRENT)


@pytest.mark.parametrize(
    ("start", "end", "step", "inclusive", "counted"),
    [
        (0, 3, 1, True, [0, 1, 2, 3]),
        (0, 3, 1, False, [0, 1, 2]),
        (0, 3, 2, True, [0, 2]),
        (3, 0, -1, True, [3, 2, 1, 0]),
        (3, 0, -1, False, [3, 2, 1]),
        (3, 0, -2, True, [3, 1]),
        (2, 2, 1, True, [2]),
        (2, 2, 1, False, []),
        (2, 2, -1, True, [2]),
        (5, 0, 1, True, []),
        (0, 5, -1, True, []),
    ],
)
async def test_for_counts(runner: Runner, start: int, end: int, step: int, inclusive: bool, counted: list[int]) -> None:
    result = await runner.run(Sequence(For(start, end, step, inclusive, say_current()), WriteLine("end")))

    assert result.lines == [*map(str, counted), "end"]


async def test_a_for_without_a_body_completes(runner: Runner) -> None:
    result = await runner.run(Sequence(For(0, 3), WriteLine("end")))

    assert result.status is Status.FINISHED
    assert result.lines == ["end"]


async def test_a_step_of_zero_is_a_fault_and_no_endless_loop(runner: Runner) -> None:
    result = await runner.run(For(0, 3, 0, body=say_current()))

    assert result.status is Status.FAULTED
    assert "step" in result.incidents[0].message


async def test_for_tells_its_value_outside(runner: Runner) -> None:
    root = For(1, 3, body=WriteLine("x"), current_value="last")
    result = await runner.run(Workflow(root, variables={"last": None}))

    assert result.variables["last"] == 3


@pytest.mark.parametrize(
    ("items", "lines"),
    [
        ([], []),
        (["a", None, "b"], ["a", "", "b"]),
        (("x", "y"), ["x", "y"]),
        ("[1, 2]", ["1", "2"]),
        ({"k": 1, "l": 2}, ["k", "l"]),
        ([[1], {"a": 1}], ["[1]", '{"a":1}']),
    ],
)
async def test_foreach_goes_over_any_collection(runner: Runner, items: Any, lines: list[str]) -> None:
    root = Sequence(ForEach(variable("items"), say_current()), WriteLine("end"))
    result = await runner.run(Workflow(root, variables={"items": items}))

    assert result.lines == [*lines, "end"]


async def test_foreach_over_none_is_a_fault(runner: Runner) -> None:
    result = await runner.run(ForEach(None, say_current(), id="loop"))

    assert result.status is Status.FAULTED
    assert result.incidents[0].activity_id == "loop"


async def test_the_body_of_a_foreach_knows_item_and_position(runner: Runner) -> None:
    body = WriteLine(expr("word + str(CurrentIndex)"))
    result = await runner.run(ForEach(["a", "b"], body, item="word"))

    assert result.lines == ["a0", "b1"]


async def test_a_foreach_waits_in_its_body_and_goes_on(runner: Runner) -> None:
    body = Sequence(Event("go"), say_current())
    result = await runner.run(Workflow(ForEach(["a", "b"], body)))
    while result.status is Status.SUSPENDED:
        result = await runner.resume(result)

    assert result.lines == ["a", "b"]


async def test_while_tests_before_each_pass(runner: Runner) -> None:
    body = Sequence(WriteLine(expr("n")), SetVariable("n", expr("n + 1")))
    result = await runner.run(Workflow(While(expr("n < 2"), body), variables={"n": 0}))
    never = await runner.run(Workflow(While(expr("n < 2"), WriteLine("x")), variables={"n": 5}))

    assert result.lines == ["0", "1"]
    assert never.lines == []


async def test_do_while_tests_after_each_pass(runner: Runner) -> None:
    body = Sequence(WriteLine(expr("n")), SetVariable("n", expr("n + 1")))
    result = await runner.run(Workflow(DoWhile(expr("n < 2"), body), variables={"n": 0}))
    once = await runner.run(Workflow(DoWhile(expr("n < 2"), WriteLine("x")), variables={"n": 5}))

    assert result.lines == ["0", "1"]
    assert once.lines == ["x"]


@pytest.mark.parametrize("loop", [While(expr("True")), DoWhile(expr("True"))])
async def test_a_conditional_loop_without_a_body_completes(runner: Runner, loop: Activity) -> None:
    assert (await runner.run(loop)).status is Status.FINISHED


async def test_a_condition_that_fails_on_a_later_pass_is_the_loops_fault(runner: Runner) -> None:
    body = Sequence(SetVariable("n", expr("n - 1")), WriteLine("pass"))
    result = await runner.run(Workflow(While(expr("6 / n > 0"), body, id="loop"), variables={"n": 2}))

    assert result.lines == ["pass", "pass"]
    assert [item.activity_id for item in result.incidents] == ["loop"]
    assert "condition" in result.incidents[0].message


# -- break and continue ------------------------------------------------------------------------------------------------


def stop_at(value: str, signal: Activity) -> If:
    return If(expr(f"CurrentValue == {value!r}"), then=signal)


async def test_break_ends_the_nearest_loop_only(runner: Runner) -> None:
    inner = ForEach(["x", "y", "z"], Sequence(stop_at("y", Break()), say_current()))
    result = await runner.run(Sequence(ForEach(["1", "2"], Sequence(say_current(), inner)), WriteLine("end")))

    assert result.lines == ["1", "x", "2", "x", "end"]


async def test_continue_goes_on_with_the_next_pass(runner: Runner) -> None:
    body = Sequence(Sequence(stop_at("b", Continue()), WriteLine("same sequence")), say_current())
    result = await runner.run(ForEach(["a", "b", "c"], body))

    assert result.lines == ["same sequence", "a", "same sequence", "c"]


async def test_continue_in_a_while_tests_its_condition_again(runner: Runner) -> None:
    body = Sequence(SetVariable("n", expr("n + 1")), If(expr("n == 2"), then=Continue()), WriteLine(expr("n")))
    result = await runner.run(Workflow(While(expr("n < 3"), body), variables={"n": 0}))

    assert result.lines == ["1", "3"]


async def test_break_leaves_a_for_and_a_do_while(runner: Runner) -> None:
    counted = For(0, 9, body=Sequence(If(expr("CurrentValue == 2"), then=Break()), say_current()))
    endless = DoWhile(expr("True"), Sequence(WriteLine("once"), Break(), WriteLine("never")))
    result = await runner.run(Sequence(counted, endless, WriteLine("end")))

    assert result.lines == ["0", "1", "once", "end"]


async def test_break_without_a_loop_ends_the_sequences_around_it(runner: Runner) -> None:
    result = await runner.run(Sequence(Sequence(WriteLine("1"), Break(), WriteLine("no")), WriteLine("neither")))

    assert result.lines == ["1"]
    assert result.status is Status.FINISHED


async def test_break_crosses_a_fork_and_cancels_its_other_branches(runner: Runner) -> None:
    fork = Fork(Sequence(Event("never"), WriteLine("no")), Sequence(WriteLine("breaks"), Break()))
    result = await runner.run(Sequence(ForEach([1, 2], Sequence(fork, WriteLine("no"))), WriteLine("end")))

    assert result.lines == ["breaks", "end"]
    assert result.bookmarks == []


async def test_break_waits_for_the_other_branches_of_a_parallel(runner: Runner) -> None:
    both = Parallel(Sequence(Break()), Sequence(WriteLine("other"), WriteLine("branch")))
    result = await runner.run(Sequence(ForEach([1, 2], Sequence(both, WriteLine("no"))), WriteLine("end")))

    assert result.lines == ["other", "branch", "end"]


async def test_break_in_a_flowchart_ends_it_and_the_loop(runner: Runner) -> None:
    first, stop, never = WriteLine("first"), Break(), WriteLine("never")
    chart = Flowchart(first, connections=[first >> stop, stop >> never])
    result = await runner.run(Sequence(ForEach([1, 2], chart), WriteLine("end")))

    assert result.lines == ["first", "end"]


async def test_break_passes_through_finally(runner: Runner) -> None:
    body = Sequence(Try(body=Sequence(Break()), finally_=WriteLine("finally")), WriteLine("never"))
    result = await runner.run(Sequence(ForEach([1, 2], body), WriteLine("end")))

    assert result.lines == ["finally", "end"]


async def test_continue_in_a_parallel_foreach_ends_one_body_and_no_outer_loop(runner: Runner) -> None:
    each = ParallelForEach(["a", "b"], Sequence(stop_at("a", Continue()), say_current()))
    result = await runner.run(ForEach([1, 2], Sequence(each, WriteLine("after"))))

    assert result.lines == ["b", "after", "b", "after"]


async def test_break_after_a_wait_still_ends_the_loop(runner: Runner) -> None:
    body = Sequence(say_current(), Event("go"), Break(), WriteLine("never"))
    waiting = await runner.run(Sequence(ForEach(["a", "b"], body), WriteLine("end")))
    result = await runner.resume(waiting)

    assert result.lines == ["a", "end"]
