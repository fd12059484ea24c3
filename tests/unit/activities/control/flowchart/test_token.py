"""Flowcharts in token mode: what each merge mode does when tokens meet."""

from __future__ import annotations

import pytest

from holdfast import Runner, Status, Workflow, expr
from holdfast.activities import Event, Flowchart, FlowDecision, FlowFork, FlowJoin, SetVariable, WriteLine
from holdfast.api import MergeMode


def diamond(merge: MergeMode | None, *, sleeping: bool = False) -> Flowchart:
    start, one, two = WriteLine("start"), WriteLine("one"), WriteLine("two")
    meet, after = WriteLine("meet", merge=merge) if merge else WriteLine("meet"), WriteLine("after")
    second = Event("go", id="sleeper") if sleeping else two
    return Flowchart(start, connections=[start >> one >> meet, start >> second >> meet, meet >> after])


@pytest.mark.parametrize("merge", [None, MergeMode.STREAM, MergeMode.MERGE, MergeMode.CONVERGE])
async def test_tokens_that_wait_for_each_other_meet_once(runner: Runner, merge: MergeMode | None) -> None:
    result = await runner.run(diamond(merge), flowchart_mode="token")

    assert result.lines == ["start", "one", "two", "meet", "after"]
    assert result.status is Status.FINISHED


async def test_cascade_lets_the_first_token_through_and_blocks_the_other(runner: Runner) -> None:
    result = await runner.run(diamond(MergeMode.CASCADE), flowchart_mode="token")

    assert result.lines.count("meet") == 1
    assert result.status is Status.FINISHED


@pytest.mark.parametrize(
    ("merge", "early"),
    [
        (None, []),
        (MergeMode.MERGE, []),
        (MergeMode.CONVERGE, []),
        (MergeMode.CASCADE, ["meet", "after"]),
        (MergeMode.RACE, ["meet", "after"]),
    ],
)
async def test_merge_modes_with_a_branch_that_sleeps(runner: Runner, merge: MergeMode | None, early: list[str]) -> None:
    waiting = await runner.run(diamond(merge, sleeping=True), flowchart_mode="token")

    assert waiting.lines == ["start", "one", *early]
    if merge is MergeMode.RACE:
        assert waiting.status is Status.FINISHED
        return
    result = await runner.resume(waiting)
    assert result.status is Status.FINISHED
    assert result.lines == ["start", "one", "meet", "after"]


async def test_a_race_cancels_who_is_late_and_fires_once(runner: Runner) -> None:
    result = await runner.run(diamond(MergeMode.RACE, sleeping=True), flowchart_mode="token")

    assert result.lines == ["start", "one", "meet", "after"]
    assert result.bookmarks == []


async def test_a_merge_whose_token_never_comes_is_told(runner: Runner) -> None:
    a, dec, b, meet = (
        WriteLine("a"),
        FlowDecision(False, id="dec"),
        WriteLine("b", id="b"),
        WriteLine("meet", merge=MergeMode.MERGE),
    )
    chart = Flowchart(a, connections=[a >> dec, dec.on("True") >> b >> meet, a >> meet])
    result = await runner.run(chart, flowchart_mode="token")

    assert result.lines == ["a"]
    assert result.status is Status.SUSPENDED
    assert [item.type for item in result.incidents] == ["stuck"]
    assert "b" in result.incidents[0].message


@pytest.mark.parametrize("answer", [True, False])
async def test_a_decision_converges(runner: Runner, answer: bool) -> None:
    start, dec = WriteLine("start"), FlowDecision(answer)
    yes, no, both = WriteLine("yes"), WriteLine("no"), WriteLine("both")
    chart = Flowchart(start, connections=[start >> dec, dec.on("True") >> yes >> both, dec.on("False") >> no >> both])
    result = await runner.run(chart, flowchart_mode="token")

    assert result.lines == ["start", "yes" if answer else "no", "both"]
    assert result.status is Status.FINISHED


@pytest.mark.parametrize("mode", ["wait_all", "wait_all_active", "wait_any"])
async def test_fork_and_join(runner: Runner, mode: str) -> None:
    fork, join, after = FlowFork(["1", "2"]), FlowJoin(mode), WriteLine("after")
    one, two = WriteLine("one"), WriteLine("two")
    chart = Flowchart(fork, connections=[fork.on("1") >> one >> join, fork.on("2") >> two >> join, join >> after])
    result = await runner.run(chart, flowchart_mode="token")

    assert result.lines.count("after") == 1
    assert result.status is Status.FINISHED


async def test_loops_need_no_rule(runner: Runner) -> None:
    start, inc, dec = WriteLine("start"), SetVariable("n", expr("n + 1")), FlowDecision(expr("n > 1"))
    retry, end = WriteLine("retry"), WriteLine("end")
    chart = Flowchart(start, connections=[start >> inc >> dec, dec.on("False") >> retry >> inc, dec.on("True") >> end])
    result = await runner.run(Workflow(chart, variables={"n": 0}), flowchart_mode="token")

    assert result.lines == ["start", "retry", "end"]
    assert result.status is Status.FINISHED


async def test_a_definition_may_ask_for_token_mode_itself(runner: Runner) -> None:
    result = await runner.run(Workflow(diamond(MergeMode.RACE, sleeping=True), flowchart_mode="token"))

    assert result.status is Status.FINISHED
    assert (await runner.run(diamond(MergeMode.RACE, sleeping=True))).status is Status.SUSPENDED
