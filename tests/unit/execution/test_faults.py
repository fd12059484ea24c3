"""Faults: what an incident says, strategies, retry by hand, instances that cannot go on."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Activity, Context, Runner, Status, Workflow, activity, expr
from holdfast.activities import (
    Event,
    Fault,
    Flowchart,
    FlowDecision,
    If,
    Parallel,
    Sequence,
    SetVariable,
    Start,
    While,
    WriteLine,
)
from holdfast.api import IncidentStrategy, MergeMode
from holdfast.errors import InstanceAtRest
from holdfast.model.instance import JournalEvent


class Declined(Exception):
    pass


@activity(secrets=["token"])
async def pay(amount: int, token: str, note: str = "") -> None:
    raise Declined(f"not {amount}")


async def test_an_incident_says_who_what_where_and_with_which_inputs(runner: Runner) -> None:
    result = await runner.run(pay.bind(12, "hunter2", note="x" * 5_000, id="pay", name="Pay the bill"))

    (incident,) = result.incidents
    assert (incident.activity_id, incident.activity_type, incident.activity_name) == ("pay", "pay", "Pay the bill")
    assert (incident.type, incident.message, incident.attempt) == ("Declined", "not 12", 1)
    assert incident.source is not None
    assert "test_faults.py:" in incident.source
    assert incident.inputs["amount"] == 12
    assert "hunter2" not in str(incident)
    assert len(str(incident.inputs["note"])) < 2_000
    assert incident.execution_id is not None


@pytest.mark.parametrize(
    "root",
    [
        WriteLine(expr("1 / zero"), id="bad"),
        SetVariable("x", expr("1 / zero"), id="bad"),
        If(expr("1 / zero"), id="bad"),
        FlowDecision(expr("1 / zero"), id="bad"),
        Event(expr("1 / zero"), id="bad"),
        While(expr("1 / zero"), WriteLine("x"), id="bad"),
    ],
)
async def test_an_expression_that_fails_names_its_input_and_its_text(runner: Runner, root: Activity) -> None:
    result = await runner.run(Workflow(root, variables={"zero": 0, "x": 1}))

    (incident,) = result.incidents
    assert incident.activity_id == "bad"
    assert incident.type == "InputEvaluationFailed"
    assert "1 / zero" in incident.message
    assert incident.source == "1 / zero"


@activity(pure=True)
def add(a: int, b: int) -> int:
    return a + b


async def test_an_input_of_the_wrong_type_is_named(runner: Runner) -> None:
    result = await runner.run(Workflow(add.bind(1, expr("x"), id="add"), variables={"x": "many"}))

    (incident,) = result.incidents
    assert incident.type == "InputEvaluationFailed"
    assert "'b'" in incident.message


async def test_queued_siblings_run_after_a_fault(runner: Runner) -> None:
    result = await runner.run(Parallel(Fault("bad"), Sequence(WriteLine("1"), Sequence(WriteLine("2")))))

    assert result.lines == ["1", "2"]
    assert result.status is Status.FAULTED


async def test_effects_at_work_end_before_the_instance_faults(runner: Runner) -> None:
    @activity
    async def good() -> str:
        return "good"

    root = Parallel(pay.bind(1, "t"), Sequence(good.bind(result="x"), WriteLine(expr("x"))))
    result = await runner.run(Workflow(root, variables={"x": None}))

    assert result.lines == ["good"]
    assert result.status is Status.FAULTED


async def test_a_faulted_instance_takes_no_stimulus_until_it_is_retried(runner: Runner) -> None:
    root = Parallel(Sequence(Event("go", id="go"), WriteLine("went")), Fault("bad"))
    faulted = await runner.run(root)

    assert faulted.bookmarks == []
    with pytest.raises(InstanceAtRest, match="Retry"):
        await runner.resume(faulted, "b1")
    again = await runner.retry(faulted)
    assert again.status is Status.FAULTED


async def test_retry_runs_what_failed_and_nothing_else(runner: Runner) -> None:
    broken = True

    @activity(pure=True)
    def check() -> None:
        if broken:
            raise ValueError("broken")

    @activity
    async def effect() -> None:
        if broken:
            raise ValueError("broken")

    root = Sequence(
        Parallel(
            Sequence(WriteLine("a"), check.bind(), WriteLine("a2")),
            Sequence(WriteLine("b"), effect.bind(), WriteLine("b2")),
            Sequence(WriteLine("c"), Event("go"), WriteLine("c2")),
        ),
        WriteLine("end"),
    )
    faulted = await runner.run(root)
    assert len(faulted.incidents) == 2
    broken = False
    retried = await runner.retry(faulted)
    result = await runner.resume(retried)

    assert retried.incidents == []
    assert sorted(retried.lines) == ["a", "a2", "b", "b2", "c"]
    assert result.lines[-2:] == ["c2", "end"]
    assert result.status is Status.FINISHED


async def test_a_finished_instance_is_neither_retried_nor_canceled(runner: Runner) -> None:
    finished = await runner.run(WriteLine("x"))

    with pytest.raises(InstanceAtRest):
        await runner.retry(finished)
    with pytest.raises(InstanceAtRest):
        await runner.cancel(finished)


async def test_a_faulted_instance_can_be_canceled(runner: Runner) -> None:
    result = await runner.cancel(await runner.run(Fault("bad")))

    assert result.status is Status.CANCELED


async def test_retrying_a_chart_starts_it_again_without_what_it_left(runner: Runner) -> None:
    a, b, c, d = (WriteLine(name, id=name) for name in "abcd")
    start, sleeper = Start(), Event("go", id="sleeper")
    chart = Flowchart(
        start, connections=[start >> sleeper, start >> a, a >> b, a >> c, b >> d, c >> d, d >> b], id="chart"
    )
    faulted = await runner.run(chart)
    again = await runner.retry(faulted)

    assert [item.activity_id for item in faulted.incidents] == ["chart"]
    assert again.lines == [*"abcd", *"abcd"]
    assert len(again._live.bookmarks) == 1


# -- nobody can explain ------------------------------------------------------------------------------------------------


def stuck_chart() -> Flowchart:
    a, dec, b, meet = (
        WriteLine("a", id="a"),
        FlowDecision(False, id="dec"),
        WriteLine("b", id="b"),
        WriteLine("m", id="meet", merge=MergeMode.MERGE),
    )
    return Flowchart(a, connections=[a >> dec, dec.on("True") >> b >> meet, a >> meet])


async def test_an_instance_that_nothing_can_wake_says_who_waits_for_whom(runner: Runner) -> None:
    result = await runner.run(Sequence(stuck_chart(), WriteLine("never")), flowchart_mode="token")

    assert result.status is Status.SUSPENDED
    (incident,) = result.incidents
    assert incident.type == "stuck"
    assert "'meet' waits for a token from b" in incident.message
    assert (await runner.cancel(result)).status is Status.CANCELED


class Forgets(Activity, pure=True):
    def execute(self, context: Context) -> None:
        context.bookmark("x", resume=None, auto_complete=False)


async def test_an_activity_that_neither_completes_nor_waits_is_named(runner: Runner) -> None:
    waiting = await runner.run(Sequence(Forgets(id="forgets")))
    result = await runner.resume(waiting)

    assert result.status is Status.SUSPENDED
    assert "'forgets'" in result.incidents[0].message


async def test_a_loop_without_end_becomes_an_incident(make_engine: Any) -> None:
    runner = make_engine(runaway_activities=5_000).runner
    root = While(expr("True"), Sequence(SetVariable("n", expr("n + 1")), id="body"))
    result = await runner.run(Workflow(root, variables={"n": 0}))

    assert result.status is Status.FAULTED
    assert [item.type for item in result.incidents] == ["runaway"]
    assert "5,000" in result.incidents[0].message
    assert 1_000 < result.variables["n"] < 5_200
    assert any(entry.event is JournalEvent.INCIDENT for entry in result.journal)


async def test_a_timeout_in_a_loop_does_not_hide_that_it_never_waits(make_engine: Any) -> None:
    from datetime import timedelta

    runner = make_engine(runaway_activities=2_000).runner
    root = While(expr("True"), Sequence(WriteLine("x"), timeout=timedelta(hours=1)))
    result = await runner.run(root)

    assert [item.type for item in result.incidents] == ["runaway"]


async def test_a_long_loop_that_waits_is_no_runaway(make_engine: Any) -> None:
    @activity
    async def effect() -> None: ...

    runner = make_engine(runaway_activities=300).runner
    body = Sequence(SetVariable("n", expr("n + 1")), If(expr("n % 20 == 0"), then=effect.bind()))
    result = await runner.run(Workflow(While(expr("n < 500"), body), variables={"n": 0}))

    assert result.status is Status.FINISHED


async def test_under_continue_a_retry_finishes_the_rest(runner: Runner) -> None:
    broken = True

    @activity(pure=True)
    def check() -> None:
        if broken:
            raise ValueError("broken")

    workflow = Workflow(Sequence(check.bind(), WriteLine("end")), incident=IncidentStrategy.CONTINUE)
    waiting = await runner.run(workflow)
    assert waiting.status is Status.SUSPENDED
    broken = False

    assert (await runner.retry(waiting)).lines == ["end"]
