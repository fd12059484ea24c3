"""`can_execute`: an activity whose precondition fails waits, and a resume checks again."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Activity, Context, Runner, Status, Workflow, expr
from holdfast.activities import Composite, Sequence, SetOutput, SetVariable
from holdfast.errors import ActivityDeclarationError
from holdfast.execution.invoke import ObjectActivity, PreconditionedActivity
from holdfast.execution.preconditions import PENDING


class Shelf:
    stock = 0


class Ship(Activity, pure=True):
    wanted: int

    def can_execute(self, context: Context) -> bool:
        return Shelf.stock >= self.wanted

    def execute(self, context: Context) -> None:
        Shelf.stock -= self.wanted


class ShipAbroad(Ship):
    """The same as an effect."""


class Meddling(Activity, pure=True):
    def can_execute(self, context: Context) -> Any:
        context.journal("I was here")
        return True

    def execute(self, context: Context) -> None: ...


class Vague(Activity, pure=True):
    def can_execute(self, context: Context) -> Any:
        return None

    def execute(self, context: Context) -> None: ...


class Plain(Activity, pure=True):
    def execute(self, context: Context) -> None: ...


def shipping(activity: type[Any]) -> Workflow:
    return Workflow(
        Sequence(
            SetVariable("wanted", 2),
            activity(wanted=expr("wanted"), id="ship"),
            SetOutput("shipped", expr("wanted")),
        ),
        id="shipping",
        variables={"wanted": 0},
        outputs={"shipped": int},
    )


@pytest.mark.parametrize("activity", [Ship, ShipAbroad])
async def test_it_waits_until_a_resume_finds_it_true(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, activity: type[Any]
) -> None:
    monkeypatch.setattr(Shelf, "stock", 0)

    first = await runner.run(shipping(activity))
    second = await runner.resume(first)
    Shelf.stock = 5
    third = await runner.resume(second)

    assert [first.status, second.status, third.status] == [Status.SUSPENDED, Status.SUSPENDED, Status.FINISHED]
    assert [mark.payload for mark in second.bookmarks] == [PENDING]
    assert [entry.data["message"] for entry in second.journal if entry.event == "logged"] == ["Precondition failed"] * 2
    assert Shelf.stock == 3


@pytest.mark.parametrize("activity", [Meddling, Vague])
async def test_it_may_only_read_and_answer(runner: Runner, activity: type[Any]) -> None:
    result = await runner.run(Workflow(activity(), id="w"))

    assert result.status is Status.FAULTED
    assert "can_execute" in result.incidents[0].message


def test_it_is_refused_where_it_could_not_be_called() -> None:
    with pytest.raises(ActivityDeclarationError, match="async"):

        class Slow(Activity):
            async def can_execute(self, context: Context) -> bool:
                return True

    with pytest.raises(ActivityDeclarationError, match="never be called"):

        class Pair(Composite):
            def can_execute(self, context: Context) -> bool:
                return True


def test_activities_without_it_compile_as_before(make_engine: Any) -> None:
    engine = make_engine()

    def compiled(activity: Activity) -> type:
        node = engine.plan(Workflow(activity, id="w")).node("it")
        return type(node.hooks.resume.__self__)

    assert compiled(Plain(id="it")) is ObjectActivity
    assert compiled(Ship(1, id="it")) is PreconditionedActivity
