"""Workflows made of workflows: as activities, as composites, as instances of their own; Complete and Finish."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from holdfast import Activity, Holdfast, Runner, RunResult, Status, Workflow, activity, expr, output, variable
from holdfast.activities import (
    Complete,
    Composite,
    Event,
    ExecuteWorkflow,
    Fault,
    Finish,
    Flowchart,
    Fork,
    Parallel,
    Sequence,
    SetOutput,
    SetVariable,
    Try,
    WriteLine,
)
from holdfast.api import InputDeclaration
from holdfast.errors import CompositionCycle, InvalidDefinition

Carry = Callable[[Runner, RunResult, Any], RunResult]
Make = Callable[..., Holdfast]

GREET = Workflow(
    Sequence(WriteLine(expr("'Hello ' + who")), SetOutput("length", expr("len(who)")), Complete(["Greeted"])),
    id="greet",
    name="Greet someone",
    inputs={"who": str},
    outputs={"length": int},
    outcomes=["Greeted", "Refused"],
    usable_as_activity=True,
)


def use(type_name: str, *, id: str = "use", inputs: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"id": id, "type": type_name, "inputs": inputs or {}, **more}


def document(root: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"$schema": "holdfast/definition@1", "format": "holdfast/definition@1", "id": "outer", "root": root, **more}


def sequence(*activities: dict[str, Any]) -> dict[str, Any]:
    return {"id": "seq", "type": "Sequence", "activities": list(activities)}


@pytest.mark.parametrize(
    "more", [{}, {"workflow": "greet"}, {"workflow": {"id": "greet"}}, {"workflow": {"name": "Greet someone"}}]
)
async def test_a_workflow_is_an_activity_by_type_name_and_by_reference(make_engine: Make, more: dict[str, Any]) -> None:
    engine = make_engine(definitions=[GREET])
    type_name = "Whatever" if more else "GreetSomeone"
    outer = document(
        sequence(use(type_name, inputs={"who": "Ann"}, outputs={"length": "n"}, **more)), variables=[{"name": "n"}]
    )
    result = await engine.runner.run(outer)

    assert result.lines == ["Hello Ann"]
    assert result.variables == {"n": 3}
    assert result.status is Status.FINISHED


@pytest.mark.parametrize("more", [{}, {"workflow": "greet"}])
async def test_its_names_are_found_whatever_their_case(make_engine: Make, more: dict[str, Any]) -> None:
    """As Elsa writes them. Who validates sees it as who runs does."""
    engine = make_engine(definitions=[GREET])
    known = use("GreetSomeone", inputs={"WHO": "Ann"}, outputs={"Length": "n"}, **more)
    unknown = use("GreetSomeone", inputs={"whom": "Ann"}, outputs={"size": "n"}, **more)

    result = await engine.runner.run(document(sequence(known), variables=[{"name": "n"}]))

    assert (result.lines, result.variables) == (["Hello Ann"], {"n": 3})
    assert engine.validate(document(sequence(known), variables=[{"name": "n"}])) == []
    assert {item.path for item in engine.validate(document(sequence(unknown), variables=[{"name": "n"}]))} >= {
        "/root/activities/0/inputs/whom",
        "/root/activities/0/outputs/size",
    }


async def test_its_outcomes_are_followed(make_engine: Make) -> None:
    engine = make_engine(definitions=[GREET])
    chart = {
        "id": "chart",
        "type": "Flowchart",
        "activities": [
            use("GreetSomeone", inputs={"who": "Bo"}),
            use("WriteLine", id="yes", inputs={"text": "greeted"}),
            use("WriteLine", id="no", inputs={"text": "refused"}),
        ],
        "connections": [
            {"from": "use", "outcome": "Greeted", "to": "yes"},
            {"from": "use", "outcome": "Refused", "to": "no"},
        ],
    }
    result = await engine.runner.run(document(chart))

    assert result.lines == ["Hello Bo", "greeted"]


async def test_it_runs_inside_the_instance_and_waits_there(make_engine: Make, through_json: Carry) -> None:
    inner = Workflow(
        Sequence(Event("go"), WriteLine(expr("n")), SetVariable("n", 2), WriteLine(expr("n"))),
        id="inner",
        variables={"n": 1},
    )
    engine = make_engine(definitions=[inner])
    outer = engine.definition(document(sequence(use("Inner", id="one"), use("Inner", id="two"))))
    result = await engine.runner.run(outer)
    first = [item.activity_id for item in result.bookmarks]
    result = await engine.runner.resume(through_json(engine.runner, result, outer))
    second = [item.activity_id for item in result.bookmarks]
    result = await engine.runner.resume(result)

    assert first == ["one/Event1"]
    assert second == ["two/Event1"]
    assert result.lines == ["1", "2", "1", "2"]
    assert result.status is Status.FINISHED


async def test_its_activities_do_not_see_the_variables_around_it(make_engine: Make) -> None:
    inner = Workflow(WriteLine(expr("secret")), id="inner")
    engine = make_engine(definitions=[inner])

    with pytest.raises(InvalidDefinition, match="secret"):
        await engine.runner.run(document(sequence(use("Inner")), variables=[{"name": "secret", "default": 1}]))


async def test_missing_and_unknown_inputs_are_found_before_it_runs(make_engine: Make) -> None:
    engine = make_engine(definitions=[GREET])

    with pytest.raises(InvalidDefinition) as caught:
        await engine.runner.run(document(sequence(use("GreetSomeone", inputs={"whom": "Ann"}))))
    assert {item.code for item in caught.value.problems} == {"missing-input", "unknown-input"}


@pytest.mark.parametrize("chain", [["a"], ["a", "b"], ["a", "b", "c"]])
async def test_a_workflow_that_contains_itself_is_refused(make_engine: Make, chain: list[str]) -> None:
    following = dict(zip(chain, [*chain[1:], chain[0]], strict=True))
    documents = [{**document(sequence(use(target, workflow=target))), "id": name} for name, target in following.items()]
    engine = make_engine(definitions=documents)

    with pytest.raises(CompositionCycle) as caught:
        await engine.runner.run(documents[0])
    assert caught.value.chain == (*chain, chain[0])
    assert "ExecuteWorkflow" in str(caught.value)


# -- composites --------------------------------------------------------------------------------------------------------


class Shout(Composite):
    """Says it loudly."""

    text: str
    times: int = 2
    said: str = output()

    variables_of: ClassVar[dict[str, Any]] = {"loud": ""}

    @classmethod
    def build(cls) -> Activity:
        return Sequence(
            SetVariable("loud", expr("text.upper() * times")),
            WriteLine(variable("loud")),
            SetOutput("said", variable("loud")),
        )


async def test_a_composite_is_an_activity_made_of_activities(runner: Runner) -> None:
    root = Sequence(Shout("ab", said="x"), Shout(expr("x"), 1), WriteLine("end"))
    result = await runner.run(Workflow(root, variables={"x": None}))

    assert result.lines == ["ABAB", "ABAB", "end"]


async def test_complete_ends_its_own_composite_only(runner: Runner) -> None:
    class Inner(Composite, outcomes=("Early", "Done")):
        @classmethod
        def build(cls) -> Activity:
            return Sequence(WriteLine("inner"), Complete("Early"), WriteLine("never"))

    class Outer(Composite):
        @classmethod
        def build(cls) -> Activity:
            return Sequence(Inner(), WriteLine("outer"), Complete(), WriteLine("never"))

    result = await runner.run(Sequence(Outer(), WriteLine("end")))

    assert result.lines == ["inner", "outer", "end"]


async def test_complete_names_the_outcomes_of_the_instance(runner: Runner) -> None:
    for given, names in [("Yes", ("Yes",)), (["A", "B"], ("A", "B")), ('["C"]', ("C",)), (None, ("Done",))]:
        result = await runner.run(Sequence(Complete(given), WriteLine("never")))
        assert result.outcome == names
        assert result.lines == []


async def test_complete_drops_what_else_runs_in_its_workflow(runner: Runner) -> None:
    result = await runner.run(Parallel(Event("never"), Sequence(WriteLine("x"), Complete())))

    assert result.status is Status.FINISHED
    assert result.bookmarks == []


# -- finish ------------------------------------------------------------------------------------------------------------


async def test_finish_ends_the_instance_from_inside_a_composite(runner: Runner) -> None:
    class Ends(Composite):
        @classmethod
        def build(cls) -> Activity:
            return Sequence(WriteLine("in"), Finish())

    result = await runner.run(Parallel(Sequence(Ends(), WriteLine("never")), Event("never")))

    assert result.lines == ["in"]
    assert result.status is Status.FINISHED
    assert result.bookmarks == []


async def test_finish_cancels_effects_that_run(runner: Runner) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    @activity
    async def long() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    @activity
    async def after_start() -> None:
        await started.wait()

    result = await runner.run(Parallel(long.bind(), Sequence(after_start.bind(), Finish())))

    assert result.status is Status.FINISHED
    assert ended.is_set()


# -- instances of their own --------------------------------------------------------------------------------------------


def parent(workflow: str = "child", **more: Any) -> Workflow:
    return Workflow(
        Sequence(WriteLine("before"), ExecuteWorkflow(workflow, result="got", **more), WriteLine("after")),
        id="parent",
        variables={"got": None},
    )


async def test_a_child_that_finishes_gives_its_outputs(make_engine: Make) -> None:
    child = Workflow(
        Sequence(WriteLine("child"), SetOutput("double", expr("n * 2"))),
        id="child",
        inputs={"n": int},
        outputs={"double": int},
    )
    engine = make_engine(definitions=[child])
    result = await engine.runner.run(parent(input={"n": 4}, wait=True))

    assert result.lines == ["before", "child", "after"]
    got = result.variables["got"]
    assert got["status"] == "finished"
    assert got["outputs"] == {"double": 8}
    assert got["instance_id"].startswith(result.instance_id)


async def test_a_child_that_waits_is_resumed_through_its_parent(make_engine: Make, through_json: Carry) -> None:
    grandchild = Workflow(
        Sequence(Event("deep", result="x"), SetOutput("x", variable("x"))),
        id="grandchild",
        variables={"x": None},
        outputs={"x": Any},
    )
    child = Workflow(Sequence(Event("go"), ExecuteWorkflow("grandchild", wait=True), WriteLine("child")), id="child")
    engine = make_engine(definitions=[child, grandchild])
    runner, workflow = engine.runner, parent(wait=True)

    result = await runner.run(workflow)
    assert result.status is Status.SUSPENDED
    result = await runner.resume(through_json(runner, result, workflow))
    assert result.status is Status.SUSPENDED
    result = await runner.resume(through_json(runner, result, workflow), payload={"n": 1})

    assert result.status is Status.FINISHED
    assert result.lines[-2:] == ["child", "after"]
    assert result.variables["got"]["status"] == "finished"


async def test_a_child_that_faults_tells_its_parent(make_engine: Make) -> None:
    engine = make_engine(definitions=[Workflow(Fault("bad"), id="child")])
    result = await engine.runner.run(parent(wait=True))

    assert result.variables["got"]["status"] == "faulted"
    assert result.status is Status.FINISHED


@pytest.mark.parametrize(
    ("workflow", "more", "words"),
    [("nobody", {}, "nobody"), ("child", {"input": {"m": 1}}, "'m'")],
)
async def test_a_child_that_cannot_start_is_a_fault(
    make_engine: Make, workflow: str, more: dict[str, Any], words: str
) -> None:
    child = Workflow(WriteLine("x"), id="child", inputs=[InputDeclaration(name="n", type="integer", required=True)])
    engine = make_engine(definitions=[child])
    root = Try(body=ExecuteWorkflow(workflow, **more), catches=[{"activity": WriteLine(expr("Error['message']"))}])
    result = await engine.runner.run(root)

    assert words in result.lines[0]
    assert result.status is Status.FINISHED


async def test_without_wait_the_parent_goes_on_when_the_child_first_waits(make_engine: Make) -> None:
    engine = make_engine(definitions=[Workflow(Sequence(WriteLine("child"), Event("x")), id="child")])
    result = await engine.runner.run(parent())

    assert result.lines == ["before", "child", "after"]
    assert result.variables["got"]["status"] == "suspended"
    assert result.status is Status.FINISHED


async def test_canceling_the_parent_cancels_the_child_that_waits(make_engine: Make) -> None:
    child = Workflow(Try(body=Event("never"), finally_=WriteLine("child tidies")), id="child")
    engine = make_engine(definitions=[child])
    result = await engine.runner.cancel(await engine.runner.run(parent(wait=True)))

    assert result.status is Status.CANCELED
    assert result.lines == ["before", "child tidies"]
    assert result.bookmarks == []


async def test_canceling_the_parent_cancels_the_child_that_runs(make_engine: Make) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    @activity
    async def long() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    engine = make_engine(definitions=[Workflow(long.bind(), id="child")])
    running = engine.runner.start(parent(wait=True))
    await started.wait()
    running.cancel()
    result = await running.result()

    assert result.status is Status.CANCELED
    assert ended.is_set()


async def test_the_child_of_a_lost_race_is_canceled(make_engine: Make) -> None:
    child = Workflow(Try(body=Event("never"), finally_=WriteLine("child tidies")), id="child")
    engine = make_engine(definitions=[child])
    race = Fork(ExecuteWorkflow("child", wait=True), Event("go", id="go"), join="wait_any")
    waiting = await engine.runner.run(Sequence(race, Event("after", id="after")))
    result = await engine.runner.resume(waiting, waiting.bookmark("go"))

    assert result.lines == ["child tidies"]
    assert [item.activity_id for item in result.bookmarks] == ["after"]


async def test_a_child_that_was_canceled_before_it_started_does_not_start(make_engine: Make) -> None:
    engine = make_engine(definitions=[Workflow(WriteLine("child"), id="child")])
    race = Fork(ExecuteWorkflow("child", wait=True), Sequence(), join="wait_any")
    result = await engine.runner.run(Sequence(race, WriteLine("end")))

    assert result.lines == ["end"]
    assert result.status is Status.FINISHED


async def test_two_children_at_once(make_engine: Make) -> None:
    engine = make_engine(definitions=[Workflow(Sequence(Event("x"), WriteLine("child")), id="child")])
    root = Sequence(
        Parallel(ExecuteWorkflow("child", wait=True), ExecuteWorkflow("child", wait=True)), WriteLine("end")
    )
    result = await engine.runner.run(root)
    assert len({item.id for item in result.bookmarks}) == 2
    result = await engine.runner.resume(result, result.bookmarks[1])
    result = await engine.runner.resume(result)

    assert result.lines == ["child", "child", "end"]


async def test_a_flowchart_of_composites(runner: Runner) -> None:
    a, b = Shout("a", id="a"), Shout("b", id="b")
    result = await runner.run(Flowchart(a, connections=[a >> b]))

    assert result.lines == ["AA", "BB"]
