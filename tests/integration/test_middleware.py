"""Users' middleware: where it stands, what it stands around, and that it sees the whole life of an activity."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Holdfast, Retry, RunResult, Workflow, activity
from holdfast.activities import Event, Fault, Sequence, SetVariable, WriteLine
from holdfast.api import DispatchDefinition, DispatchInstance, MiddlewarePlacement
from holdfast.errors import ActivityFault, PluginError
from tests.integration.conftest import Cluster

SOON = timedelta(seconds=20)


class Watch:
    """Writes down what it sees of pure activities."""

    def __init__(self, log: list[str], name: str = "watch") -> None:
        self.log = log
        self.name = name

    def around(self, context: Any, proceed: Callable[[], None]) -> None:
        self.log.append(f"{self.name} {context.phase} {context.activity_id}")
        try:
            proceed()
        except Exception as error:
            self.log.append(f"{self.name} raised {type(error).__name__}")
            raise
        self.log.append(f"{self.name} {context.status} {context.activity_id}")


class WatchEffects:
    def __init__(self, log: list[str]) -> None:
        self.log = log

    async def around_effect(self, context: Any, proceed: Callable[[], Awaitable[Any]]) -> Any:
        self.log.append(f"attempt {context.attempt} of {context.activity_id}")
        return await proceed()


async def run(root: Any, *placements: MiddlewarePlacement, **workflow: Any) -> RunResult:
    engine = Holdfast(middleware=placements, entry_points=False)
    return await engine.runner.run(Workflow(root, id="watched", **workflow), wait=True)


async def test_it_sees_start_and_end() -> None:
    log: list[str] = []

    await run(WriteLine("x", id="line"), MiddlewarePlacement(name="watch", middleware=Watch(log)))

    assert log == ["watch execute line", "watch completed line"]


async def test_it_sees_suspend_and_resume() -> None:
    log: list[str] = []
    placement = MiddlewarePlacement(name="watch", middleware=Watch(log), types=("Event",))
    runner = Holdfast(middleware=[placement], entry_points=False).runner

    waiting = await runner.run(Workflow(Event("go", id="wait"), id="watched"))
    await runner.resume(waiting)

    assert log == ["watch execute wait", "watch suspended wait", "watch resume wait", "watch completed wait"]


async def test_before_faults_a_fault_is_a_status_and_inside_an_exception() -> None:
    log: list[str] = []

    result = await run(
        Fault("on purpose", id="fault"),
        MiddlewarePlacement(name="outer", middleware=Watch(log, "outer"), before="faults"),
        MiddlewarePlacement(name="inner", middleware=Watch(log, "inner"), after="faults"),
    )

    assert log == [
        "outer execute fault",
        "inner execute fault",
        f"inner raised {ActivityFault.__name__}",
        "outer faulted fault",
    ]
    assert result.status == "faulted"


async def test_it_stands_before_or_after_another_one_by_name() -> None:
    log: list[str] = []

    await run(
        WriteLine("x", id="line"),
        MiddlewarePlacement(name="b", middleware=Watch(log, "b"), after="faults"),
        MiddlewarePlacement(name="a", middleware=Watch(log, "a"), before="b"),
        MiddlewarePlacement(name="c", middleware=Watch(log, "c"), after="b"),
    )

    assert log[:3] == ["a execute line", "b execute line", "c execute line"]
    assert log[3:] == ["c completed line", "b completed line", "a completed line"]


async def test_it_may_be_limited_to_types() -> None:
    log: list[str] = []

    await run(
        Sequence(WriteLine("x", id="line"), SetVariable("n", 1, id="set")),
        MiddlewarePlacement(name="watch", middleware=Watch(log), types=("SetVariable",)),
        variables={"n": 0},
    )

    assert log == ["watch execute set", "watch completed set"]


async def test_around_an_effect_it_sees_each_attempt() -> None:
    log: list[str] = []

    @activity(retry=Retry(attempts=2, delay=timedelta(milliseconds=1)))
    async def stumble() -> None:
        if len(log) < 2:
            raise ConnectionError("once")

    result = await run(
        stumble.bind(id="stumble"),
        MiddlewarePlacement(name="watch", middleware=WatchEffects(log), types=("stumble",)),
    )

    assert log == ["attempt 1 of stumble", "attempt 2 of stumble"]
    assert result.status == "finished"


async def test_around_durable_effects_it_stands_where_it_was_placed(cluster: Cluster) -> None:
    log: list[str] = []

    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

        async def around_effect(self, context: Any, proceed: Callable[[], Awaitable[Any]]) -> Any:
            log.append(self.name)
            return await proceed()

    @activity
    async def act() -> None: ...

    placements = [
        MiddlewarePlacement(name="b", middleware=Named("b"), after="faults"),
        MiddlewarePlacement(name="a", middleware=Named("a"), before="b"),
        MiddlewarePlacement(name="c", middleware=Named("c"), after="b"),
    ]
    runtime = await cluster.node(activities=[act], middleware=placements)
    answer = await runtime.start(Workflow(act.bind(), id="placed"))
    assert answer.result is not None
    await runtime.settle(answer.result.instance_id)

    assert log == ["a", "b", "c"]


async def test_a_place_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(PluginError, match=r"Unknown middleware 'faulst'.*faults, commit, retry, journal"):
        await run(WriteLine("x"), MiddlewarePlacement(name="lost", middleware=Watch([]), after="faulst"))


# -- around workflows, on each store -----------------------------------------------------------------------------------


class Stamp:
    """Records `is_start` of each segment, and counts the segments in a property."""

    def __init__(self) -> None:
        self.starts: list[bool] = []

    def around_workflow(self, context: Any, proceed: Callable[[], None]) -> None:
        self.starts.append(context.is_start)
        context.properties["segments"] = context.properties.get("segments", 0) + 1
        proceed()


@pytest.mark.parametrize("dispatched", [True, False])
async def test_the_first_segment_is_the_start_and_properties_are_kept(store_url: str, dispatched: bool) -> None:
    """A dispatched start is committed as pending first; its first segment was not seen as the start."""
    stamp, definition = Stamp(), Workflow(Sequence(WriteLine("x"), Event("go")), id="stamped")
    app = Holdfast(
        store=store_url,
        tenant=uuid.uuid4().hex,
        workflows=[definition],
        middleware=[MiddlewarePlacement(name="stamp", middleware=stamp)],
        entry_points=False,
    )
    async with asyncio.timeout(30), app:
        runtime = app.runtime
        if dispatched:
            answer = await runtime.dispatcher.dispatch(DispatchDefinition(definition_id="stamped"), wait=SOON)
            instance_id = str(answer.instance_id)
        else:
            started = await runtime.start(definition)
            assert started.result is not None
            instance_id = started.result.instance_id
        await runtime.dispatcher.dispatch(DispatchInstance(instance_id=instance_id), wait=SOON)
        result = await runtime.read(instance_id)

    assert stamp.starts == [True, False]
    assert result._live.properties == {"segments": 2}
