"""Inputs are checked on every way in: all problems at once, and nothing starts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from holdfast import Context, Holdfast, Runner, Status, Workflow, activity, expr
from holdfast.activities import Event, ExecuteWorkflow, Parallel, Sequence, SetOutput, WriteLine
from holdfast.api import InputDeclaration, MiddlewarePlacement
from holdfast.errors import BookmarkNotFound, InvalidInput

Make = Callable[..., Holdfast]


def strict() -> Workflow:
    return Workflow(
        Sequence(WriteLine("started"), SetOutput("sum", expr("a + b"))),
        id="strict",
        inputs=[
            InputDeclaration(name="a", type="integer", required=True),
            InputDeclaration(name="b", type="integer", default=5),
            InputDeclaration(name="when", type="datetime"),
        ],
        outputs={"sum": int},
    )


BAD = {"b": "many", "when": "never", "c": 1}


async def test_run_and_start_check_their_inputs(runner: Runner) -> None:
    for way in (runner.run, runner.start):
        with pytest.raises(InvalidInput) as caught:
            started = way(strict(), BAD)
            if asyncio.iscoroutine(started):
                await started
        assert sorted(item.path for item in caught.value.problems) == ["/a", "/b", "/c", "/when"]


async def test_a_child_is_checked_too(make_engine: Make) -> None:
    runner = make_engine(definitions=[strict()]).runner
    result = await runner.run(ExecuteWorkflow("strict", input=BAD))

    assert result.lines == []
    assert result.status is Status.FAULTED
    for name in ("'a'", "'b'", "'c'", "'when'"):
        assert name in result.incidents[0].message


async def test_given_and_default_values_are_used(runner: Runner) -> None:
    assert (await runner.run(strict(), {"a": 1})).outputs == {"sum": 6}
    assert (await runner.run(strict(), {"a": 1.0, "b": 2})).outputs == {"sum": 3}


async def test_inputs_are_taken_by_value(runner: Runner) -> None:
    given = {"items": [1]}
    workflow = Workflow(Sequence(Event("go"), WriteLine(expr("items"))), inputs={"items": list})
    waiting = await runner.run(workflow, given)
    given["items"].append(2)

    assert (await runner.resume(waiting)).lines == ["[1]"]


async def test_an_option_that_does_not_exist_is_refused(runner: Runner) -> None:
    with pytest.raises(TypeError, match="corelation_id"):
        await runner.run(WriteLine("x"), corelation_id="c")


async def test_which_bookmark_must_be_said_where_there_are_several(runner: Runner) -> None:
    waiting = await runner.run(Parallel(Event("a", id="a"), Event("b", id="b")))

    with pytest.raises(BookmarkNotFound, match=r"b1 \(a\), b2 \(b\)"):
        await runner.resume(waiting)
    with pytest.raises(BookmarkNotFound, match="nope"):
        await runner.resume(waiting, "nope")
    with pytest.raises(LookupError, match="waiting: a, b"):
        waiting.bookmark("c")


async def test_many_instances_run_at_the_same_time_and_keep_apart(runner: Runner) -> None:
    everyone = asyncio.Barrier(20)

    @activity
    async def meet(n: int) -> int:
        await everyone.wait()
        return n * n

    workflow = Workflow(
        Sequence(meet.bind(expr("n"), result="x"), SetOutput("x", expr("x"))), inputs={"n": int}, variables={"x": 0}
    )
    results = await asyncio.gather(*(runner.run(workflow, {"n": n}) for n in range(20)))

    assert [result.outputs["x"] for result in results] == [n * n for n in range(20)]
    assert len({result.instance_id for result in results}) == 20


async def test_an_instance_id_may_be_given(runner: Runner) -> None:
    running = runner.start(WriteLine("x"), instance_id="mine")

    assert running.instance_id == "mine"
    assert (await running.result()).instance_id == "mine"


async def test_plugins_bring_activities_middleware_and_services(make_engine: Make) -> None:
    class Greeter:
        def greet(self) -> str:
            return "hello"

    seen: list[str] = []

    class Watch:
        def around(self, context: Any, proceed: Callable[[], None]) -> None:
            seen.append(context.activity_type)
            proceed()

    @activity(name="Greet", pure=True)
    def greet(context: Context) -> str:
        return context.service(Greeter).greet()

    class Plugin:
        name = "greeting"
        needs = ("holdfast",)

        def register(self, registration: Any) -> None:
            registration.activity(greet)
            registration.service(Greeter, Greeter())
            registration.middleware(MiddlewarePlacement(middleware=Watch(), name="watch", types=("Greet",)))

    runner = make_engine(plugins=[Plugin()]).runner
    document = {
        "format": "holdfast/definition@1",
        "id": "g",
        "variables": [{"name": "said"}],
        "root": {"id": "greet", "type": "Greet", "outputs": {"result": "said"}},
    }
    result = await runner.run(document)

    assert result.variables == {"said": "hello"}
    assert seen == ["Greet"]
