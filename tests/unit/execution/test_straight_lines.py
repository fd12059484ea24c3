"""Activities in a line are run in one go; nobody can tell."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Holdfast, Runner, Status, Workflow, expr
from holdfast.activities import Parallel, Sequence, SetVariable, While, WriteLine
from holdfast.execution import delivery
from holdfast.execution.segment import STRIDE, Ended, Limits, run_segment
from holdfast.execution.straight_lines import MAX_LENGTH


def lines(name: str, count: int) -> Sequence:
    return Sequence(*(WriteLine(f"{name}{number}") for number in range(count)))


@pytest.mark.parametrize("count", [1, 2, MAX_LENGTH - 1, MAX_LENGTH, MAX_LENGTH + 1, 3 * MAX_LENGTH])
async def test_a_line_of_any_length_runs_once_and_in_order(runner: Runner, count: int) -> None:
    result = await runner.run(Sequence(lines("a", count), WriteLine("end")))

    assert result.lines == [*(f"a{number}" for number in range(count)), "end"]
    assert [entry.sequence for entry in result.journal] == list(range(len(result.journal)))


async def test_branches_still_take_turns(runner: Runner) -> None:
    result = await runner.run(Parallel(lines("a", 4), lines("b", 2), lines("c", 3)))

    assert result.lines == ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "c2", "a3"]


async def test_what_fails_in_a_line_is_named_and_ends_it(runner: Runner) -> None:
    result = await runner.run(
        Workflow(
            Sequence(
                WriteLine("before"),
                SetVariable("x", expr("1 // x"), id="divides"),
                WriteLine("after"),
            ),
            variables={"x": 0},
        )
    )

    assert result.status is Status.FAULTED
    assert result.lines == ["before"]
    assert [incident.activity_id for incident in result.incidents] == ["divides"]


def test_a_segment_of_lines_is_cut_in_time(make_engine: Any) -> None:
    engine: Holdfast = make_engine()
    body = Sequence(*(SetVariable("x", expr("x + 1")) for _ in range(40)))
    plan = engine.plan(Workflow(While(expr("True"), body), variables={"x": 0}))
    live = delivery.start(plan, id="i", now=engine.clock.now_ns, services=engine.services, inputs={})

    ended = run_segment(live, Limits(activities=500, nanoseconds=10**12))

    assert ended is Ended.CUT
    assert 500 <= live.sequence <= 500 + STRIDE * MAX_LENGTH
