"""Middleware: where it stands, what it sees, whom it wraps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Holdfast, Status, activity
from holdfast.activities import Delay, Event, Fault, Sequence, Try, WriteLine
from holdfast.api import MiddlewarePlacement
from holdfast.errors import PluginError

Make = Callable[..., Holdfast]


class Watch:
    """Writes down what it sees."""

    def __init__(self, name: str = "watch") -> None:
        self.name = name
        self.seen: list[tuple[str, ...]] = []

    def around(self, context: Any, proceed: Callable[[], None]) -> None:
        self.seen.append((context.phase, context.activity_id, "before"))
        try:
            proceed()
        except Exception as error:
            self.seen.append((context.phase, context.activity_id, type(error).__name__))
            raise
        self.seen.append((context.phase, context.activity_id, context.status))


def placed(middleware: Any, name: str = "watch", **where: Any) -> MiddlewarePlacement:
    return MiddlewarePlacement(middleware=middleware, name=name, **where)


async def test_it_sees_start_end_suspend_and_resume(make_engine: Make) -> None:
    watch = Watch()
    runner = make_engine(middleware=[placed(watch, after="faults")]).runner
    waiting = await runner.run(Sequence(WriteLine("x", id="line"), Event("go", id="event"), id="all"))
    await runner.resume(waiting)

    assert watch.seen == [
        ("execute", "all", "before"),
        ("execute", "all", "running"),
        ("execute", "line", "before"),
        ("execute", "line", "completed"),
        ("execute", "event", "before"),
        ("execute", "event", "suspended"),
        ("resume", "event", "before"),
        ("resume", "event", "completed"),
    ]


async def test_it_sees_the_resumption_of_an_activity_without_a_callback(make_engine: Make) -> None:
    watch = Watch()
    runner = make_engine(middleware=[placed(watch)]).runner
    await runner.run(Delay(timedelta(hours=1), id="delay"), wait=True)

    assert watch.seen[-1] == ("resume", "delay", "completed")


@pytest.mark.parametrize(
    ("where", "seen"),
    [
        ({"after": "faults"}, "ActivityFault"),
        ({"before": "faults"}, "faulted"),
        ({"before": "invoke"}, "ActivityFault"),
        ({}, "ActivityFault"),
    ],
)
async def test_inside_faults_it_sees_the_exception_outside_the_status(
    make_engine: Make, where: dict[str, str], seen: str
) -> None:
    watch = Watch()
    runner = make_engine(middleware=[placed(watch, **where)]).runner
    result = await runner.run(Fault("bad", id="f"))

    assert watch.seen[-1] == ("execute", "f", seen)
    assert result.status is Status.FAULTED
    assert len(result.incidents) == 1


async def test_the_order_is_the_one_that_was_asked_for(make_engine: Make) -> None:
    order: list[str] = []

    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

        def around(self, context: Any, proceed: Callable[[], None]) -> None:
            order.append(self.name)
            proceed()

        async def around_effect(self, context: Any, proceed: Callable[[], Awaitable[Any]]) -> Any:
            order.append(f"effect {self.name}")
            return await proceed()

    @activity
    async def act() -> None: ...

    placements = [
        placed(Named("b"), "b", after="faults"),
        placed(Named("a"), "a", before="b"),
        placed(Named("d"), "d", before="invoke"),
        placed(Named("c"), "c", after="b"),
        placed(Named("outer"), "outer", before="faults"),
    ]
    runner = make_engine(middleware=placements).runner
    await runner.run(act.bind())

    assert order[:5] == ["outer", "a", "b", "c", "d"]
    assert order[5:] == [f"effect {name}" for name in ("outer", "a", "b", "c", "d")]


async def test_it_may_be_limited_to_types(make_engine: Make) -> None:
    watch = Watch()
    runner = make_engine(middleware=[placed(watch, types=("WriteLine",))]).runner
    await runner.run(Sequence(WriteLine("x", id="line"), id="all"))

    assert {item[1] for item in watch.seen} == {"line"}


def test_a_place_that_does_not_exist_is_an_error_at_start(make_engine: Make) -> None:
    with pytest.raises(PluginError, match=r"nowhere.*faults"):
        make_engine(middleware=[placed(Watch(), before="nowhere")])


def test_two_of_one_name_are_an_error_at_start(make_engine: Make) -> None:
    with pytest.raises(PluginError, match="watch"):
        make_engine(middleware=[placed(Watch()), placed(Watch())])


async def test_who_does_not_proceed_leaves_the_activity_out(make_engine: Make) -> None:
    class Skip:
        def around(self, context: Any, proceed: Callable[[], None]) -> None:
            if context.activity_type != "WriteLine":
                proceed()

    runner = make_engine(middleware=[placed(Skip())]).runner
    result = await runner.run(Sequence(WriteLine("x"), WriteLine("y")))

    assert result.lines == []
    assert result.status is Status.SUSPENDED
    assert [item.type for item in result.incidents] == ["stuck"]


async def test_its_own_failure_is_a_fault_of_the_activity(make_engine: Make) -> None:
    class Broken:
        def around(self, context: Any, proceed: Callable[[], None]) -> None:
            if context.activity_type == "WriteLine":
                raise LookupError("middleware broke")
            proceed()

    runner = make_engine(middleware=[placed(Broken())]).runner
    result = await runner.run(Try(body=WriteLine("x"), catches=[{"errors": ["LookupError"]}]))

    assert result.status is Status.FINISHED


async def test_around_effects_it_sees_each_attempt_and_may_change_the_end(make_engine: Make) -> None:
    seen: list[tuple[str, int, str]] = []

    class Around:
        async def around_effect(self, context: Any, proceed: Callable[[], Awaitable[Any]]) -> Any:
            try:
                await proceed()
            except ConnectionError as error:
                seen.append((context.activity_id, context.attempt, str(error)))
                if context.attempt == 1:
                    raise
                return
            seen.append((context.activity_id, context.attempt, "fine"))

    from holdfast import Retry

    @activity(retry=Retry(attempts=3))
    async def act() -> None:
        raise ConnectionError("down")

    runner = make_engine(middleware=[placed(Around())]).runner
    result = await runner.run(act.bind(id="act"), wait=True)

    assert seen == [("act", 1, "down"), ("act", 2, "down")]
    assert result.status is Status.FINISHED
