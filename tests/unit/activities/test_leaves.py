"""Events, tasks, time, scripts, variables, names, lines."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from holdfast import Activity, Context, Runner, RunResult, Status, Workflow, activity, expr, variable
from holdfast.activities import (
    Correlate,
    Delay,
    End,
    Event,
    Fault,
    Inline,
    Log,
    Parallel,
    PublishEvent,
    ReadLine,
    RunScript,
    RunTask,
    Sequence,
    SetName,
    SetOutput,
    SetVariable,
    StartAt,
    Timer,
    WriteLine,
)
from holdfast.errors import ActivityDeclarationError, BookmarkNotFound, InvalidDefinition, ValueRefused
from holdfast.model.instance import JournalEvent
from holdfast.testing.clock import VirtualClock

Carry = Callable[[Runner, RunResult, Any], RunResult]


# -- events and tasks --------------------------------------------------------------------------------------------------


async def test_an_event_waits_and_takes_its_payload(runner: Runner) -> None:
    waiting = await runner.run(Workflow(Event("paid", result="x"), variables={"x": None}))
    result = await runner.resume(waiting, payload={"sum": 1})

    assert waiting.status is Status.SUSPENDED
    assert waiting.bookmarks[0].payload == {"event_name": "paid"}
    assert result.variables == {"x": {"sum": 1}}


async def test_a_payload_is_taken_by_value(runner: Runner) -> None:
    payload = {"items": [1]}
    waiting = await runner.run(Workflow(Event("paid", result="x"), variables={"x": None}))
    result = await runner.resume(waiting, payload=payload)
    payload["items"].append(2)

    assert result.variables == {"x": {"items": [1]}}


async def test_a_payload_that_no_state_can_hold_is_refused_at_the_door(runner: Runner) -> None:
    waiting = await runner.run(Event("paid"))

    with pytest.raises(ValueRefused):
        await runner.resume(waiting, payload=object())
    assert (await runner.resume(waiting, payload=1)).status is Status.FINISHED


async def test_the_same_event_has_the_same_key_in_every_instance(runner: Runner) -> None:
    one, two = await runner.run(Event("a")), await runner.run(Sequence(WriteLine("x"), Event("a")))
    other = await runner.run(Event("b"))

    assert one.bookmarks[0].hash == two.bookmarks[0].hash
    assert one.bookmarks[0].hash != other.bookmarks[0].hash


async def test_a_burned_bookmark_is_gone(runner: Runner) -> None:
    waiting = await runner.run(Sequence(Event("a"), Event("b")))
    after = await runner.resume(waiting, waiting.bookmarks[0])

    with pytest.raises(BookmarkNotFound):
        await runner.resume(after, waiting.bookmarks[0])


async def test_a_result_stays_what_it_was(runner: Runner) -> None:
    waiting = await runner.run(Workflow(Sequence(Event("a", result="x"), WriteLine(expr("x"))), variables={"x": None}))
    one = await runner.resume(waiting, payload=1)
    two = await runner.resume(waiting, payload=2)

    assert (one.lines, two.lines) == (["1"], ["2"])
    assert waiting.status is Status.SUSPENDED
    assert waiting.lines == []


async def test_a_local_event_is_heard_by_the_instance_itself(runner: Runner) -> None:
    root = Parallel(
        Sequence(Event("ready", result="x"), WriteLine(expr("x['n']"))),
        Sequence(WriteLine("first"), PublishEvent("ready", payload={"n": 7}, local=True)),
    )
    result = await runner.run(Workflow(root, variables={"x": None}))

    assert result.lines == ["first", "7"]
    assert result.status is Status.FINISHED
    assert result.published == []


async def test_a_local_event_may_come_before_its_bookmark(runner: Runner) -> None:
    result = await runner.run(
        Sequence(PublishEvent("early", local=True), WriteLine("x"), Event("early"), WriteLine("end"))
    )

    assert result.lines == ["x", "end"]


async def test_an_event_for_others_is_published_once(runner: Runner) -> None:
    result = await runner.run(Sequence(PublishEvent("shipped", payload=[1], correlation_id="c"), Event("shipped")))

    assert [(item["name"], item["payload"], item["correlation_id"]) for item in result.published] == [
        ("shipped", [1], "c")
    ]
    assert result.status is Status.SUSPENDED


async def test_run_task_waits_for_its_report(runner: Runner) -> None:
    root = RunTask("approve", payload={"n": 1}, task_id="task", result="answer")
    waiting = await runner.run(Workflow(root, variables={"task": None, "answer": None}))
    bookmark = waiting.bookmarks[0]
    result = await runner.resume(waiting, payload="yes")

    assert bookmark.payload == {"task_id": waiting.variables["task"]}
    assert bookmark.metadata == {"task_name": "approve", "payload": {"n": 1}}
    assert result.variables["answer"] == "yes"


# -- time --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("duration", [timedelta(minutes=5), "PT5M", "00:05:00", 300, expr("timedelta(minutes=5)")])
async def test_a_delay_is_a_bookmark_with_a_due_time(runner: Runner, clock: VirtualClock, duration: Any) -> None:
    waiting = await runner.run(Sequence(Delay(duration), WriteLine("later")))

    assert waiting.status is Status.SUSPENDED
    assert waiting.bookmarks[0].due == clock.now() + timedelta(minutes=5)
    assert (await runner.resume(waiting)).lines == ["later"]


async def test_with_wait_delays_are_waited_out_in_order(runner: Runner, clock: VirtualClock) -> None:
    began = clock.now()
    root = Parallel(
        Sequence(Delay(timedelta(hours=2)), WriteLine("2")),
        Sequence(Delay(timedelta(hours=1)), WriteLine("1"), Timer(timedelta(hours=3)), WriteLine("4")),
    )
    result = await runner.run(root, wait=True)

    assert result.lines == ["1", "2", "4"]
    assert clock.now() - began == timedelta(hours=4)


async def test_start_at_waits_for_the_moment_unless_it_has_passed(runner: Runner, clock: VirtualClock) -> None:
    later = clock.now() + timedelta(days=1)
    waiting = await runner.run(StartAt(later))
    past = await runner.run(Sequence(StartAt(datetime(2001, 1, 1, tzinfo=UTC)), WriteLine("at once")))

    assert waiting.bookmarks[0].due == later
    assert past.lines == ["at once"]


@pytest.mark.parametrize(
    "first", [Timer(timedelta(hours=1), id="t"), StartAt(datetime(2100, 1, 1, tzinfo=UTC), id="t"), Event("e", id="t")]
)
async def test_a_trigger_that_started_the_instance_does_not_wait(runner: Runner, first: Activity) -> None:
    result = await runner.run(Sequence(first, WriteLine("go")), trigger="t")

    assert result.lines == ["go"]


# -- scripts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "script"),
    [("python", "total = price * 2\ntotal + 1"), ("javascript", "setTotal(getPrice() * 2); getTotal() + 1")],
)
async def test_a_script_sets_variables_and_gives_a_result(runner: Runner, language: str, script: str) -> None:
    root = Sequence(RunScript(script, language, result="last"), WriteLine(variable("total")))
    result = await runner.run(Workflow(root, variables={"price": 4, "total": 0, "last": None}))

    assert result.lines == ["8"]
    assert result.variables["total"] == 8
    assert result.variables["last"] == 9


async def test_an_empty_script_completes_and_leaves_the_result_alone(runner: Runner) -> None:
    root = Sequence(RunScript("", result="x"), RunScript("  ", "javascript", result="x"))
    result = await runner.run(Workflow(root, variables={"x": 1}))

    assert result.variables == {"x": 1}


async def test_a_script_that_fails_is_a_fault_with_its_text(runner: Runner) -> None:
    result = await runner.run(RunScript("1 / 0", id="script"))

    assert result.status is Status.FAULTED
    assert result.incidents[0].activity_id == "script"
    assert result.incidents[0].source == "1 / 0"


async def test_a_script_in_an_unknown_language_is_refused_before_it_runs(runner: Runner) -> None:
    with pytest.raises(InvalidDefinition, match="cobol"):
        await runner.run(RunScript("x", "cobol"))


def greet(context: Context) -> str:
    context.set_variable("seen", context.get_variable("who"))
    context.write_line("inline")
    return "hello"


async def test_inline_calls_a_function_with_the_context(runner: Runner) -> None:
    result = await runner.run(
        Workflow(Inline(greet, result="said"), variables={"who": "Ann", "seen": None, "said": None})
    )

    assert result.lines == ["inline"]
    assert result.variables == {"who": "Ann", "seen": "Ann", "said": "hello"}


async def test_two_lambdas_of_one_name_are_told_apart_or_refused() -> None:
    Inline(lambda context: 1)
    with pytest.raises(ActivityDeclarationError, match="def"):
        Inline(lambda context: 2)


def waits(context: Context) -> None:
    context.bookmark("x")


async def test_an_inline_function_cannot_wait(runner: Runner) -> None:
    result = await runner.run(Inline(waits))

    assert result.status is Status.FAULTED
    assert "Activity class" in result.incidents[0].message


# -- data --------------------------------------------------------------------------------------------------------------


async def test_set_variable_finds_the_nearest(runner: Runner) -> None:
    inner = Sequence(SetVariable("x", "inner"), SetVariable("far", 1), variables={"x": None})
    deep = Sequence(Sequence(Sequence(inner, variables={"a": 1}), variables={"b": 2}), variables={"c": 3})
    result = await runner.run(Workflow(deep, variables={"x": "outer", "far": 0}))

    assert result.variables == {"x": "outer", "far": 1}


async def test_an_unknown_variable_is_found_before_it_runs(runner: Runner) -> None:
    with pytest.raises(InvalidDefinition, match="nope"):
        await runner.run(Workflow(SetVariable("nope", 1), variables={"known": 1}))


async def test_a_value_that_no_state_can_hold_is_refused_when_it_is_set(runner: Runner) -> None:
    @activity(pure=True)
    def strange() -> object:
        return object()

    result = await runner.run(Workflow(strange.bind(result="x"), variables={"x": 1}))

    assert result.status is Status.FAULTED
    assert result.incidents[0].type == "ValueRefused"
    assert result.variables == {"x": 1}


async def test_set_output_fills_declared_and_other_outputs(runner: Runner) -> None:
    root = Sequence(SetOutput("a", 1), SetOutput("b", [2]), SetOutput("b", [3]))
    result = await runner.run(Workflow(root, outputs={"a": int, "unset": int}))

    assert result.outputs == {"a": 1, "b": [3]}


async def test_names_and_correlation_reach_the_result_and_expressions(runner: Runner) -> None:
    root = Sequence(SetName("Order 1"), Correlate(expr("'c-' + str(1)")), Event("go"), WriteLine("x"))
    waiting = await runner.run(root, correlation_id="first", name="n")
    result = await runner.resume(waiting)

    assert (waiting.name, waiting.correlation_id) == ("Order 1", "c-1")
    assert (result.name, result.correlation_id) == ("Order 1", "c-1")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (1, "1"),
        (True, "True"),
        ([1, "a"], '[1,"a"]'),
        ({"a": None}, '{"a":null}'),
        ("x", "x"),
        (1.5, "1.5"),
    ],
)
async def test_write_line_writes_what_a_person_reads(runner: Runner, value: Any, text: str) -> None:
    printed: list[str] = []
    result = await runner.run(Workflow(WriteLine(variable("x")), variables={"x": value}), on_line=printed.append)

    assert result.lines == [text]
    assert printed == [text]


async def test_read_line_takes_what_it_is_given(runner: Runner) -> None:
    root = Sequence(ReadLine("Your name?", result="name"), WriteLine(expr("'Hello ' + name")))
    waiting = await runner.run(Workflow(root, variables={"name": None}))
    result = await runner.resume(waiting, payload="Ann")

    assert waiting.lines == ["Your name?"]
    assert result.lines == ["Your name?", "Hello Ann"]


async def test_log_goes_to_the_journal_only(runner: Runner) -> None:
    result = await runner.run(Log("paid", level="warning", attributes={"sum": 3}))

    logged = [entry.data for entry in result.journal if entry.event is JournalEvent.LOGGED]
    assert logged[0]["message"] == "paid"
    assert logged[0]["level"] == "warning"
    assert result.lines == []


async def test_fault_tells_all_it_knows(runner: Runner) -> None:
    result = await runner.run(
        Fault(expr("'no ' + 'money'"), code="42", category="Bank", fault_type="Business", id="f", name="Pay")
    )

    incident = result.incidents[0]
    assert (incident.type, incident.message, incident.activity_id, incident.activity_name) == (
        "ActivityFault",
        "no money",
        "f",
        "Pay",
    )
    assert incident.details == {"code": "42", "category": "Bank", "fault_type": "Business"}


async def test_end_ends_its_sequence(runner: Runner) -> None:
    result = await runner.run(Sequence(Sequence(WriteLine("1"), End(), WriteLine("no")), WriteLine("2")))

    assert result.lines == ["1", "2"]
