"""Middleware around segments: when it runs, what it sees, its order, and its errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from holdfast import Activity, Context, Holdfast, Status, Workflow, activity
from holdfast.activities import Event, Sequence, WriteLine
from holdfast.api import MiddlewarePlacement


class Watch:
    def __init__(self, name: str = "watch", seen: list[Any] | None = None) -> None:
        self.name = name
        self.seen: list[Any] = [] if seen is None else seen

    def around_workflow(self, context: Any, proceed: Callable[[], None]) -> None:
        before = (context.is_start, context.status)
        context.transient_properties["tenant"] = "acme"
        proceed()
        self.seen.append((self.name, *before, context.status))

    def placed(self, **where: Any) -> MiddlewarePlacement:
        return MiddlewarePlacement(name=self.name, middleware=self, **where)


class Failing:
    broken = True

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def around_workflow(self, context: Any, proceed: Callable[[], None]) -> None:
        if self.broken and self.kind == "before":
            raise ValueError("not ready")
        if not (self.broken and self.kind == "never"):
            proceed()
        if self.broken and self.kind == "twice":
            proceed()


@activity
async def work() -> int:
    return 1


class ReadsTenant(Activity, pure=True):
    def execute(self, context: Context) -> None:
        context.write_line(context.transient_properties["tenant"])


def flow(**options: Any) -> Workflow:
    return Workflow(Sequence(ReadsTenant(), work.bind(), Event("go"), WriteLine("end")), id="w", **options)


async def test_it_runs_around_each_segment(make_engine: Any) -> None:
    watch = Watch()
    runner = make_engine(middleware=[watch.placed()]).runner
    result = await runner.resume(await runner.run(flow()))

    assert (result.status, result.lines) == (Status.FINISHED, ["acme", "end"])
    assert watch.seen == [
        ("watch", True, "running", "running"),
        ("watch", False, "running", "suspended"),
        ("watch", False, "running", "finished"),
    ]


async def test_the_outermost_ends_last(make_engine: Any) -> None:
    seen: list[Any] = []
    inner, outer = Watch("inner", seen), Watch("outer", seen)
    engine: Holdfast = make_engine(middleware=[inner.placed(), outer.placed(before="inner")])
    await engine.runner.run(WriteLine("x"))

    assert [name for name, *_ in seen] == ["inner", "outer"]


@pytest.mark.parametrize(
    ("kind", "message"),
    [("before", "ValueError: not ready"), ("never", "proceed() 0 times"), ("twice", "proceed() 2 times")],
)
async def test_its_error_is_an_incident(make_engine: Any, kind: str, message: str) -> None:
    failing = Failing(kind)
    runner = make_engine(middleware=[MiddlewarePlacement(name="bad", middleware=failing)]).runner
    result = await runner.run(Workflow(WriteLine("x"), id="w"))

    assert result.status is (Status.FINISHED if kind == "twice" else Status.FAULTED)
    assert result.incidents[0].type == "middleware"
    assert message in result.incidents[0].message
    if kind != "twice":
        failing.broken = False
        assert (await runner.retry(result)).status is Status.FINISHED


class Stamp:
    """Writes properties before and after the segment, and removes one."""

    def around_workflow(self, context: Any, proceed: Callable[[], None]) -> None:
        if context.is_start:
            context.properties["region"] = "eu"
            del context.properties["draft"]
        proceed()
        context.properties["segments"] = context.properties.get("segments", 0) + 1


class ReadsRegion(Activity, pure=True):
    def execute(self, context: Context) -> None:
        context.write_line(context.properties["region"])


async def test_it_sets_properties(make_engine: Any) -> None:
    """Before, assignments went to a copy and were lost."""
    placement = MiddlewarePlacement(name="stamp", middleware=Stamp())
    runner = make_engine(middleware=[placement]).runner
    waiting = await runner.run(
        Workflow(Sequence(ReadsRegion(), Event("go")), id="w"), properties={"draft": True, "kept": 1}
    )
    result = await runner.resume(waiting)

    assert result.lines == ["eu"]
    assert result._live.properties == {"kept": 1, "region": "eu", "segments": 2}


async def test_a_property_that_cannot_be_stored_is_refused(make_engine: Any) -> None:
    class Wrong:
        def around_workflow(self, context: Any, proceed: Callable[[], None]) -> None:
            context.properties["lock"] = object()
            proceed()

    placement = MiddlewarePlacement(name="wrong", middleware=Wrong())
    result = await make_engine(middleware=[placement]).runner.run(Workflow(WriteLine("x"), id="w"))

    assert result.status is Status.FAULTED
    assert "lock" in result.incidents[0].message


async def test_plans_without_it_have_no_wrapper(make_engine: Any) -> None:
    assert make_engine().plan(flow()).around == ()
