"""State as JSON and back: the same continuation, in this process and in another; what does not fit is refused."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from holdfast import (
    Activity,
    Context,
    Holdfast,
    Retry,
    Runner,
    RunResult,
    Status,
    Variable,
    Workflow,
    activity,
    expr,
    variable,
)
from holdfast.activities import (
    Compensable,
    Delay,
    Event,
    ExecuteWorkflow,
    Fault,
    Flowchart,
    FlowJoin,
    ForEach,
    Fork,
    Parallel,
    ParallelForEach,
    Sequence,
    SetVariable,
    Start,
    StateMachine,
    Try,
    WriteLine,
)
from holdfast.api import IncidentStrategy, Storage
from holdfast.errors import HoldfastError, InvalidState
from holdfast.execution import delivery, snapshot
from holdfast.execution.record import NewBookmark, Record
from holdfast.execution.segment import Limits, run_segment
from holdfast.model import values
from holdfast.testing.clock import VirtualClock

Carry = Callable[[Runner, RunResult, Any], RunResult]
Make = Callable[..., Holdfast]


class Colour(Enum):
    RED = "r"


@dataclass
class Point:
    x: int
    when: datetime


@activity(pure=True, name="point")
def point() -> Point:
    return Point(3, datetime(2020, 1, 2, 3, 4, 5, 678, UTC))


@activity(pure=True, name="colour")
def colour() -> Colour:
    return Colour.RED


@activity(retry=Retry(attempts=5, delay=timedelta(minutes=1)), name="fails")
async def fails() -> None:
    raise ConnectionError("down")


def everything() -> Workflow:
    """Waits in every way at once."""
    start, join, after = Start(), FlowJoin("wait_all"), WriteLine("joined")
    one, two = Event("one", id="one"), Event("two", id="two")
    chart = Flowchart(start, connections=[start >> one >> join, start >> two >> join, join >> after])
    machine = StateMachine(
        states=[{"name": "A"}, {"name": "B"}],
        transitions=[{"from": "A", "to": "B", "trigger": Event("state", id="state"), "action": WriteLine("moved")}],
    )
    loop = ForEach(["x", "y"], Sequence(Event("loop", id="loop"), WriteLine(expr("CurrentValue"))))
    bodies = ParallelForEach(
        ["p", "q", "r"], Sequence(Event("each", id="each"), WriteLine(expr("CurrentValue"))), limit=2
    )
    trying = Try(
        body=Sequence(Event("try", id="try"), Fault("bad")),
        catches=[{"activity": WriteLine(expr("Error['message']"))}],
        finally_=WriteLine("finally"),
    )
    saga = Sequence(Compensable(body=WriteLine("do"), compensation=WriteLine("undo")), Event("saga", id="saga"))
    race = Fork(Event("race", id="race"), Sequence(Delay(timedelta(days=1)), WriteLine("late")), join="wait_any")
    inner = Sequence(
        SetVariable("own", [1, {"a": None}]), Event("scope", id="scope"), WriteLine(expr("own")), variables={"own": 0}
    )
    return Workflow(
        Sequence(Parallel(chart, machine, loop, bodies, trying, saga, race, inner, fails.bind()), WriteLine("end")),
        id="everything",
        variables={"big": 10**40, "money": Decimal("1.10"), "raw": b"\x00\xff"},
    )


async def test_every_kind_of_wait_goes_on_after_a_trip_through_json(runner: Runner, through_json: Carry) -> None:
    workflow = everything()
    straight = await runner.run(workflow)
    carried = through_json(runner, straight, workflow)
    carried.lines.extend(straight.lines)
    for _ in range(40):
        if not straight.bookmarks:
            break
        assert [item.id for item in carried.bookmarks] == [item.id for item in straight.bookmarks]
        chosen = straight.bookmarks[len(straight.lines) % len(straight.bookmarks)].id
        straight = await runner.resume(straight, chosen)
        moved = await runner.resume(carried, chosen)
        carried = through_json(runner, moved, workflow)
        carried.lines.extend(moved.lines)

    assert carried.lines == straight.lines
    assert carried.status is straight.status is Status.FAULTED
    assert carried.variables == straight.variables
    assert [item.event for item in carried.journal] == [item.event for item in straight.journal]


async def test_values_keep_their_types(runner: Runner, through_json: Carry) -> None:
    root = Sequence(point.bind(result="p"), colour.bind(result="c"), Event("go"), WriteLine("x"))
    workflow = Workflow(
        root,
        variables={
            "p": None,
            "c": None,
            "n": 10**40,
            "d": Decimal("1.10"),
            "b": b"\xff",
            "t": timedelta(days=1),
            "f": 1.0,
        },
    )
    result = await runner.run(workflow)
    loaded = through_json(runner, result, workflow)

    assert loaded.variables == result.variables
    assert {name: type(value) for name, value in loaded.variables.items()} == {
        name: type(value) for name, value in result.variables.items()
    }
    assert loaded.variables["p"] == Point(3, datetime(2020, 1, 2, 3, 4, 5, 678, UTC))


async def test_an_imported_result_says_what_the_exported_one_said(runner: Runner, through_json: Carry) -> None:
    workflow = everything()
    result = await runner.run(workflow, correlation_id="c", name="n", instance_id="i1")
    loaded = through_json(runner, result, workflow)

    for name in (
        "instance_id",
        "status",
        "correlation_id",
        "name",
        "outputs",
        "bookmarks",
        "incidents",
        "journal",
        "commits",
    ):
        assert getattr(loaded, name) == getattr(result, name)
    assert json.dumps(loaded.state) == json.dumps(result.state)


async def test_state_is_written_before_it_is_changed_by_a_resume(runner: Runner) -> None:
    workflow = everything()
    result = await runner.run(workflow)
    before = json.dumps(result.state)
    await runner.resume(result, result.bookmarks[0])

    assert json.dumps(result.state) == before


SCRIPT = """
import asyncio, json, sys
sys.path.insert(0, sys.argv[1])
from flow_for_tests import workflow
from holdfast import Holdfast
engine = Holdfast(entry_points=False)
result = engine.runner.load(json.load(sys.stdin), workflow)
result = asyncio.run(engine.runner.resume(result, payload={"n": 4}))
json.dump({"status": result.status, "lines": result.lines, "state": result.state, "outputs": result.outputs}, sys.stdout)
"""

FLOW = """
from holdfast import Activity, Context, Workflow, activity, expr, output
from holdfast.activities import Event, Sequence, SetOutput, WriteLine

@activity
async def double(n: int) -> int:
    return n * 2

class Ask(Activity, pure=True):
    answer: int = output()
    def execute(self, context: Context) -> None:
        context.bookmark("ask", resume=self.answered)
    def answered(self, context: Context, payload: object) -> None:
        context.set_output("answer", payload["n"])

workflow = Workflow(
    Sequence(
        Ask(answer="n"),
        double.bind(expr("n"), result="n"),
        WriteLine(expr("n")),
        SetOutput("n", expr("n")),
        Ask(answer="n"),
        WriteLine("end"),
    ),
    id="flow", variables={"n": 0},
)
"""


async def test_an_instance_goes_on_in_another_process(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "flow_for_tests.py").write_text(FLOW)
    monkeypatch.syspath_prepend(str(tmp_path))
    from flow_for_tests import workflow  # type: ignore[import-not-found]  # written just now

    waiting = await runner.run(workflow)
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        input=json.dumps(waiting.state),
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout)
    back = await runner.resume(runner.load(told["state"], workflow), payload={"n": 0})

    assert told["status"] == "suspended"
    assert told["lines"] == ["8"]
    assert told["outputs"] == {"n": 8}
    assert back.lines == ["end"]
    assert back.status is Status.FINISHED


# -- refusals ----------------------------------------------------------------------------------------------------------


async def test_another_definition_is_refused(runner: Runner) -> None:
    one, other = Workflow(Event("a"), id="w"), Workflow(Event("b"), id="w")
    state = (await runner.run(one)).state

    with pytest.raises(InvalidState, match="different content"):
        runner.load(state, other)


async def test_another_content_of_a_workflow_inside_is_refused(make_engine: Make) -> None:
    outer = {"format": "holdfast/definition@1", "id": "outer", "root": {"id": "use", "type": "Inner"}}
    one = make_engine(definitions=[Workflow(Sequence(Event("go"), WriteLine("one")), id="inner")]).runner
    two = make_engine(definitions=[Workflow(Sequence(Event("go"), WriteLine("two")), id="inner")]).runner
    state = (await one.run(outer)).state

    assert (await one.resume(one.load(state, outer))).lines == ["one"]
    with pytest.raises(InvalidState, match="inner"):
        two.load(state, outer)


@pytest.mark.parametrize("document", [{}, {"format": "other@1"}, [], None, "text", {"format": "holdfast/instance@1"}])
async def test_what_is_no_state_is_refused(runner: Runner, document: Any) -> None:
    with pytest.raises(InvalidState):
        runner.load(document, Workflow(Event("a")))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += places(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            found += places(inner, (*path, number))
    return found


@settings(max_examples=150)
@given(data=st.data(), junk=st.sampled_from([None, 0, -1, 10**6, "junk", [], {}, True, "remove", 2.5]))
def test_a_damaged_state_is_refused_and_nothing_else_is_raised(data: st.DataObject, junk: Any) -> None:
    engine, document = damaged_engine()
    broken = json.loads(document)
    path = data.draw(st.sampled_from(places(broken)))
    holder = broken
    for step in path[:-1]:
        holder = holder[step]
    if junk == "remove":
        del holder[path[-1]]
    else:
        holder[path[-1]] = junk

    try:
        engine.runner.load(broken, WORKFLOW)
    except HoldfastError as error:
        assert str(error)


WORKFLOW = everything()
_MADE: list[Any] = []


def damaged_engine() -> tuple[Holdfast, str]:
    if not _MADE:
        engine = Holdfast(clock=VirtualClock(), entry_points=False)
        _MADE.append((engine, json.dumps(asyncio.run(engine.runner.run(WORKFLOW)).state)))
    made: tuple[Holdfast, str] = _MADE[0]
    return made


# -- memory ------------------------------------------------------------------------------------------------------------


async def test_variables_in_memory_are_back_at_their_default_after_a_wait(runner: Runner) -> None:
    root = Sequence(
        SetVariable("kept", [1]),
        SetVariable("gone", [1]),
        WriteLine(variable("gone")),
        Event("go"),
        WriteLine(variable("kept")),
        WriteLine(variable("gone")),
    )
    variables = [Variable(name="kept"), Variable(name="gone", default=["default"], storage=Storage.MEMORY)]
    result = await runner.resume(await runner.run(Workflow(root, variables=variables)))

    assert result.lines == ["[1]", "[1]", '["default"]']


async def test_faulted_and_incident_laden_states_go_on_too(runner: Runner, through_json: Carry) -> None:
    ready = False

    @activity(name="needs")
    async def needs() -> None:
        if not ready:
            raise ConnectionError("down")

    for strategy in IncidentStrategy:
        ready = False
        workflow = Workflow(Sequence(needs.bind(), WriteLine("end")), incident=strategy)
        failed = through_json(runner, await runner.run(workflow), workflow)
        ready = True
        result = await runner.retry(failed)
        assert result.lines == ["end"]
        assert result.incidents == []


@activity(name="charged")
async def charged(amount: int, to: list[str]) -> int:
    return amount


class Calls(Activity):
    """An effect that waits, and is called again with what came."""

    amount: int = 0

    async def execute(self, context: Context) -> None:
        context.bookmark("more", resume=self.more)

    async def more(self, context: Context, payload: Any) -> None: ...


@pytest.mark.parametrize("older", [False, True])
def test_open_effects_are_read_as_they_were_written(make_engine: Make, older: bool) -> None:
    """States of before said inputs, method and argument of each, whatever they were."""
    engine = make_engine()
    plan = engine.plan(Parallel(charged.bind(7, ["a", "ä"]), Calls(amount=3), Calls(amount=4)))
    live = delivery.start(plan, id="i", now=engine.clock.now_ns, services=engine.services, inputs={})
    run_segment(live, Limits())
    last = max(live.effects)
    delivery.finish_effect(live, last, 1, Record(bookmarks=[NewBookmark(name="more", callback="more")]))
    delivery.resume(live, "b1", {"n": 5})
    document = json.loads(json.dumps(snapshot.dump(live)))
    assert [len(item) for item in document["effects"]] == [3, 3, 5]
    if older:
        for item in document["effects"]:
            item["inputs"] = values.encode(live.effects[item["execution_id"]].inputs, plan.types)
            item.setdefault("method", "execute")
            item.setdefault("argument", {"value": None})

    again = snapshot.load(document, plan, engine.clock.now_ns, engine.services)

    assert again.effects == live.effects
    assert [item.argument for item in again.effects.values()] == [None, None, {"n": 5}]
    assert again.waiters.keys() == live.waiters.keys()


async def test_a_child_that_waits_travels_with_its_parent(make_engine: Make, through_json: Carry) -> None:
    child = Workflow(Sequence(Event("go"), WriteLine("child")), id="child")
    runner = make_engine(definitions=[child]).runner
    workflow = Workflow(Sequence(ExecuteWorkflow("child", wait=True), WriteLine("end")), id="parent")
    result = await runner.resume(through_json(runner, await runner.run(workflow), workflow))

    assert result.lines[-2:] == ["child", "end"]
    with pytest.raises(HoldfastError, match="child"):
        make_engine().runner.load((await runner.run(workflow)).state, workflow)
