"""Flowcharts in counter mode: implicit joins, dead paths, loops, join modes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Activity, Runner, Status, Workflow, expr
from holdfast.activities import (
    End,
    Event,
    Flowchart,
    FlowDecision,
    FlowFork,
    FlowJoin,
    FlowSwitch,
    RunScript,
    Sequence,
    SetVariable,
    Start,
    WriteLine,
)
from holdfast.model.instance import JournalEvent
from holdfast.testing.clock import VirtualClock


def lines(names: str) -> list[WriteLine]:
    return [WriteLine(name, id=name) for name in names]


def skipped(result: Any) -> list[str]:
    return [entry.activity_id for entry in result.journal if entry.event is JournalEvent.SKIPPED]


async def test_an_activity_without_an_outcome_follows_done_and_the_unnamed(runner: Runner) -> None:
    x, a, b, c = lines("xabc")
    result = await runner.run(Flowchart(x, connections=[x.on("Done") >> a, x.on("Fake") >> b, x >> c]))

    assert result.lines == ["x", "a", "c"]


async def test_explicit_outcomes_do_not_follow_done(runner: Runner) -> None:
    fork = FlowFork(["left", "right"])
    a, b, c = lines("abc")
    result = await runner.run(
        Flowchart(fork, connections=[fork.on("left") >> a, fork.on("right") >> b, fork.on("Done") >> c])
    )

    assert result.lines == ["a", "b"]
    assert skipped(result) == ["c"]


async def test_a_fork_without_branches_is_done(runner: Runner) -> None:
    fork, (a,) = FlowFork(), lines("a")
    result = await runner.run(Flowchart(fork, connections=[fork.on("Done") >> a]))

    assert result.lines == ["a"]


async def test_branches_meet_once_at_a_plain_activity(runner: Runner) -> None:
    s, a, b, m = lines("sabm")
    result = await runner.run(Flowchart(s, connections=[s >> a >> m, s >> b >> m]))

    assert result.lines == ["s", "a", "b", "m"]


async def test_the_implicit_join_waits_for_a_branch_that_sleeps(runner: Runner) -> None:
    s, a, m = lines("sam")
    wait = Event("go", id="wait")
    waiting = await runner.run(Flowchart(s, connections=[s >> a >> m, s >> wait >> m]))
    joins = [entry for entry in waiting.journal if entry.event is JournalEvent.WAITING]
    result = await runner.resume(waiting)

    assert waiting.lines == ["s", "a"]
    assert [(entry.activity_id, entry.data) for entry in joins] == [("m", {"for": ["wait"]})]
    assert result.lines == ["s", "a", "m"]


@pytest.mark.parametrize(
    ("mode", "answer", "expected"),
    [
        ("wait_all", False, "ABCDF"),
        ("wait_all_active", False, "ABCDEF"),
        ("wait_any", False, "ABCDEF"),
        ("wait_all", True, "ABCEF"),
        ("wait_all_active", True, "ABCEF"),
        ("wait_any", True, "ABCEF"),
    ],
)
async def test_the_three_join_modes_with_a_dead_branch(runner: Runner, mode: str, answer: bool, expected: str) -> None:
    start, dec, join = Start(), FlowDecision(answer), FlowJoin(mode)
    a, b, c, d, e, f = lines("ABCDEF")
    chart = Flowchart(
        start,
        connections=[
            start >> a,
            start >> b,
            start >> c,
            a >> dec,
            dec.on("True") >> join,
            dec.on("False") >> d,
            b >> join,
            c >> join,
            d >> f,
            join >> e,
            e >> f,
        ],
    )
    result = await runner.run(chart)

    assert result.lines == list(expected)
    assert result.status is Status.FINISHED


async def test_dead_paths_are_followed_through_several_activities(runner: Runner) -> None:
    dec = FlowDecision(False)
    a, b, c, d = lines("abcd")
    chart = Flowchart(dec, connections=[dec.on("True") >> a >> b >> c, dec.on("False") >> d >> c])
    result = await runner.run(chart)

    assert result.lines == ["d", "c"]
    assert skipped(result) == ["a", "b"]


@pytest.mark.parametrize("mode", ["wait_all", "wait_all_active", "wait_any"])
async def test_a_join_inside_a_loop_balances_on_each_pass(runner: Runner, mode: str) -> None:
    start, join, inc = Start(), FlowJoin(mode), SetVariable("n", expr("n + 1"))
    again = FlowSwitch([{"label": "again", "condition": expr("n < 3")}])
    a, b, c, e = lines("abce")
    chart = Flowchart(
        start,
        connections=[
            start >> a,
            a >> b,
            a >> c,
            b >> join,
            c >> join,
            join >> inc,
            inc >> again,
            again.on("again") >> a,
            again.on("Default") >> e,
        ],
    )
    result = await runner.run(Workflow(chart, variables={"n": 0}))

    assert result.lines == ["a", "b", "c"] * 3 + ["e"]
    assert result.status is Status.FINISHED


@pytest.mark.parametrize("mode", ["wait_all", "wait_all_active", "wait_any"])
async def test_a_loop_back_to_the_decision_before_its_own_join(runner: Runner, mode: str) -> None:
    start, join, inc = Start(), FlowJoin(mode), SetVariable("n", expr("n + 1"))
    again = FlowSwitch([{"label": "loop", "condition": expr("n < 3")}])
    a, b, end = WriteLine("A"), WriteLine("B"), End()
    chart = Flowchart(
        start,
        connections=[
            start >> again,
            again.on("loop") >> a,
            again.on("loop") >> inc,
            again.on("Default") >> b,
            a >> join,
            inc >> join,
            join >> again,
            b >> end,
        ],
    )
    result = await runner.run(Workflow(chart, variables={"n": 0}))

    assert result.lines == ["A", "A", "A", "B"]
    assert result.status is Status.FINISHED


async def test_a_backward_connection_into_the_middle_of_a_branch_is_refused_when_it_is_followed(runner: Runner) -> None:
    a, b, c, d, e = lines("abcde")
    chart = Flowchart(a, connections=[a >> b, b >> c, b >> d, c >> e, d >> e, e >> c], id="chart")
    result = await runner.run(chart)

    assert result.lines == ["a", "b", "c", "d", "e"]
    assert result.status is Status.FAULTED
    (incident,) = result.incidents
    assert incident.message == (
        "Invalid backward connection: Every path from the source ('e') must go through the target ('c') when tracing back "
        "to the start."
    )


async def test_an_invalid_backward_connection_that_is_not_followed_does_no_harm(runner: Runner) -> None:
    dec = FlowDecision(False, id="dec")
    a, b, c, d = lines("abcd")
    chart = Flowchart(a, connections=[a >> b, a >> c, b >> dec, c >> dec, dec.on("True") >> b, dec.on("False") >> d])
    result = await runner.run(chart)

    assert result.lines == ["a", "b", "c", "d"]


@pytest.mark.parametrize("winner", ["left", "right"])
async def test_wait_any_fires_once_and_cancels_the_branch_that_sleeps(runner: Runner, winner: str) -> None:
    start, join, after = Start(), FlowJoin("wait_any"), WriteLine("after")
    left, right = Event("left", id="left"), Event("right", id="right")
    waiting = await runner.run(
        Flowchart(start, connections=[start >> left >> join, start >> right >> join, join >> after])
    )
    result = await runner.resume(waiting, waiting.bookmark(winner))

    assert result.lines == ["after"]
    assert result.status is Status.FINISHED
    assert result.bookmarks == []


async def test_wait_any_does_not_fire_again_for_a_branch_that_comes_late(runner: Runner) -> None:
    start, join, after = Start(), FlowJoin("wait_any"), WriteLine("after")
    a, b, c = lines("abc")
    chart = Flowchart(start, connections=[start >> a >> join, start >> b >> c >> join, join >> after])
    result = await runner.run(chart)

    assert result.lines.count("after") == 1
    assert result.status is Status.FINISHED


async def test_a_wait_all_join_with_a_sleeping_branch_waits(runner: Runner) -> None:
    start, join, (a, after) = Start(), FlowJoin("wait_all"), lines("az")
    sleeper = Event("go")
    waiting = await runner.run(
        Flowchart(start, connections=[start >> a >> join, start >> sleeper >> join, join >> after])
    )
    result = await runner.resume(waiting)

    assert waiting.lines == ["a"]
    assert result.lines == ["a", "z"]


async def test_a_join_mode_may_be_computed(runner: Runner) -> None:
    start, join, (a, after) = Start(), FlowJoin(expr("mode")), lines("az")
    sleeper = Event("go")
    chart = Flowchart(start, connections=[start >> a >> join, start >> sleeper >> join, join >> after])
    result = await runner.run(Workflow(chart, variables={"mode": "wait_any"}))

    assert result.lines == ["a", "z"]
    assert result.bookmarks == []


async def test_sequential_joins(runner: Runner) -> None:
    names = {name: WriteLine(name) for name in ("S", "A1", "A2", "B1", "B2", "E")}
    s, a1, a2, b1, b2, e = names.values()
    j1, j2 = FlowJoin("wait_all"), FlowJoin("wait_all")
    result = await runner.run(
        Flowchart(s, connections=[s >> a1 >> j1, s >> a2 >> j1, j1 >> b1 >> j2, j1 >> b2 >> j2, j2 >> e])
    )

    assert result.lines == ["S", "A1", "A2", "B1", "B2", "E"]


# -- where it begins and ends ------------------------------------------------------------------------------------------


async def test_an_activity_that_nothing_leads_to_does_not_run(runner: Runner) -> None:
    a, b = lines("ab")
    result = await runner.run(Flowchart(a, b, start="a"))

    assert result.lines == ["a"]
    assert result.status is Status.FINISHED


@pytest.mark.parametrize(
    ("chart", "expected"),
    [
        (Flowchart(WriteLine("x"), Start(), connections=[]), []),
        (Flowchart(), []),
        (Flowchart(WriteLine("a", id="a"), WriteLine("b", id="b"), start="b"), ["b"]),
    ],
)
async def test_where_a_chart_begins(runner: Runner, chart: Activity, expected: list[str]) -> None:
    result = await runner.run(chart)

    assert result.lines == expected
    assert result.status is Status.FINISHED


async def test_the_activity_without_a_way_in_is_the_first(runner: Runner) -> None:
    a, b, c = lines("abc")
    result = await runner.run(Flowchart(c, b, a, connections=[a >> b >> c]))

    assert result.lines == ["a", "b", "c"]


async def test_the_trigger_of_the_instance_is_the_first(runner: Runner) -> None:
    first, other = Event("one", id="one"), Event("two", id="two", result="got")
    a, b = lines("ab")
    chart = Flowchart(first, connections=[first >> a, other >> b])
    result = await runner.run(Workflow(chart, variables={"got": None}), trigger="two", trigger_payload={"n": 1})

    assert result.lines == ["b"]
    assert result.variables == {"got": {"n": 1}}
    assert result.status is Status.FINISHED


async def test_end_completes_the_chart_and_drops_the_rest(runner: Runner) -> None:
    start, end, sleeper = Start(), End(), Event("never")
    a, b = lines("ab")
    waiting = await runner.run(
        Sequence(Flowchart(start, connections=[start >> sleeper >> b, start >> a >> end]), Event("after", id="after"))
    )

    assert waiting.lines == ["a"]
    assert [item.activity_id for item in waiting.bookmarks] == ["after"]


async def test_a_chart_has_variables_of_its_own(runner: Runner) -> None:
    a = WriteLine(expr("x"))
    result = await runner.run(Workflow(Flowchart(a, variables={"x": "inner"}), variables={"x": "outer"}))

    assert result.lines == ["inner"]


# -- delays ------------------------------------------------------------------------------------------------------------


async def test_a_connection_with_a_delay_is_followed_later(runner: Runner, clock: VirtualClock) -> None:
    a, b, c = lines("abc")
    began = clock.now()
    chart = Flowchart(a, connections=[(a >> b).after(timedelta(minutes=5)), a >> c])
    waiting = await runner.run(chart)
    due = waiting.bookmarks[0].due
    result = await runner.run(chart, wait=True)

    assert waiting.lines == ["a", "c"]
    assert due == began + timedelta(minutes=5)
    assert result.lines == ["a", "c", "b"]
    assert clock.now() == began + timedelta(minutes=5)


# -- trouble -----------------------------------------------------------------------------------------------------------


async def test_a_faulted_activity_keeps_its_chart_open(runner: Runner) -> None:
    from holdfast.activities import Fault
    from holdfast.api import IncidentStrategy

    start, bad, (a, b) = Start(), Fault("bad"), lines("ab")
    chart = Flowchart(start, connections=[start >> bad >> b, start >> a])
    result = await runner.run(Workflow(Sequence(chart, WriteLine("no")), incident=IncidentStrategy.CONTINUE))

    assert result.lines == ["a"]
    assert result.status is Status.SUSPENDED


async def test_a_script_chooses_the_way(runner: Runner) -> None:
    script = RunScript("set_outcomes('left', 'right')", outcomes=["left", "right", "up"])
    a, b, c = lines("abc")
    result = await runner.run(
        Flowchart(script, connections=[script.on("left") >> a, script.on("right") >> b, script.on("up") >> c])
    )

    assert result.lines == ["a", "b"]


async def test_flow_switch_can_take_all_that_match(runner: Runner) -> None:
    switch = FlowSwitch(
        [
            {"label": "small", "condition": expr("n < 10")},
            {"label": "even", "condition": expr("n % 2 == 0")},
            {"label": "big", "condition": expr("n > 100")},
        ],
        mode="match_any",
    )
    a, b, c, d = lines("abcd")
    chart = Flowchart(
        switch,
        connections=[switch.on("small") >> a, switch.on("even") >> b, switch.on("big") >> c, switch.on("Default") >> d],
    )
    result = await runner.run(Workflow(chart, variables={"n": 4}))

    assert result.lines == ["a", "b"]
