"""Sequence, Scope, If and Switch."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Runner, Status, Workflow, expr, variable
from holdfast.activities import Event, If, Scope, Sequence, SetVariable, Switch, WriteLine
from holdfast.model.instance import JournalEvent


async def test_a_sequence_runs_its_activities_in_order(runner: Runner) -> None:
    result = await runner.run(Sequence(WriteLine("1"), Sequence(WriteLine("2"), WriteLine("3")), WriteLine("4")))

    assert result.status is Status.FINISHED
    assert result.lines == ["1", "2", "3", "4"]


async def test_empty_containers_complete(runner: Runner) -> None:
    result = await runner.run(Sequence(Sequence(), Scope(), If(expr("True")), Switch(), WriteLine("end")))

    assert result.lines == ["end"]
    assert result.status is Status.FINISHED


async def test_variables_of_an_inner_sequence_hide_those_outside_and_start_anew(runner: Runner) -> None:
    def inner() -> Sequence:
        return Sequence(
            WriteLine(variable("x")), SetVariable("x", 7), WriteLine(variable("x")), variables={"x": "default"}
        )

    result = await runner.run(Workflow(Sequence(inner(), inner(), WriteLine(variable("x"))), variables={"x": 1}))

    assert result.lines == ["default", "7", "default", "7", "1"]
    assert result.variables == {"x": 1}


async def test_a_scope_gives_its_body_variables(runner: Runner) -> None:
    result = await runner.run(Scope(body=WriteLine(expr("a + b")), variables={"a": 1, "b": 2}))

    assert result.lines == ["3"]


@pytest.mark.parametrize(
    ("condition", "line"),
    [
        (True, "then"),
        (False, "else"),
        (None, "else"),
        ("false", "else"),
        ("False ", "else"),
        ("0", "else"),
        ("no", "else"),
        ("yes", "then"),
        ("", "else"),
        (0, "else"),
        (2, "then"),
        ([], "else"),
        ([0], "then"),
    ],
)
async def test_if_takes_what_its_condition_reads_as(runner: Runner, condition: Any, line: str) -> None:
    root = If(expr("x"), then=WriteLine("then"), otherwise=WriteLine("else"), result="answer")
    result = await runner.run(Workflow(root, variables={"x": condition, "answer": None}))

    assert result.lines == [line]
    assert result.variables["answer"] is (line == "then")


async def test_the_journal_says_what_a_condition_saw(runner: Runner) -> None:
    root = If(expr("total > limit"), then=WriteLine("much"), id="check")
    result = await runner.run(Workflow(root, variables={"total": 12, "limit": 10}))

    decided = [entry for entry in result.journal if entry.event is JournalEvent.DECIDED]
    assert [(entry.activity_id, entry.data) for entry in decided] == [
        ("check", {"answer": True, "saw": {"total": 12, "limit": 10}})
    ]


def cases(*conditions: Any) -> list[dict[str, Any]]:
    return [
        {"label": str(number), "condition": condition, "activity": WriteLine(f"case {number}")}
        for number, condition in enumerate(conditions)
    ]


async def test_switch_takes_the_first_that_matches(runner: Runner) -> None:
    result = await runner.run(Switch(cases(False, expr("1 < 2"), True), default=WriteLine("default")))

    assert result.lines == ["case 1"]


async def test_switch_can_take_all_that_match(runner: Runner) -> None:
    result = await runner.run(
        Sequence(Switch(cases(False, True, True), mode="match_any", default=WriteLine("default")), WriteLine("after"))
    )

    assert result.lines == ["case 1", "case 2", "after"]


async def test_switch_match_any_waits_for_every_branch(runner: Runner) -> None:
    entries = [
        {"label": name, "condition": True, "activity": Sequence(Event(name), WriteLine(name))} for name in ("a", "b")
    ]
    waiting = await runner.run(Sequence(Switch(entries, mode="match_any"), WriteLine("after")))
    once = await runner.resume(waiting, waiting.bookmarks[1])
    twice = await runner.resume(once)

    assert [item.payload for item in waiting.bookmarks] == [{"event_name": "a"}, {"event_name": "b"}]
    assert once.status is Status.SUSPENDED
    assert twice.lines == ["b", "a", "after"]


async def test_switch_without_a_match_takes_the_default_or_nothing(runner: Runner) -> None:
    result = await runner.run(Sequence(Switch(cases(False), default=WriteLine("default")), Switch(cases(False))))

    assert result.lines == ["default"]
    assert result.status is Status.FINISHED


async def test_a_case_without_an_activity_completes(runner: Runner) -> None:
    result = await runner.run(Sequence(Switch([{"label": "x", "condition": True}]), WriteLine("after")))

    assert result.lines == ["after"]
