"""Properties of an instance: what activities read and write, what is hidden, and what ends with the commit."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Activity, Context, Runner, Status, Workflow, activity, expr
from holdfast.activities import Event, Sequence
from holdfast.errors import ExecutionError, ValueRefused
from holdfast.execution.properties import Properties, changed, visible
from holdfast.execution.record import Record
from holdfast.model.replies import OPEN_REQUESTS


def test_changes_are_recorded_and_the_stored_ones_stay() -> None:
    stored, record = {"a": 1, "b": [1], OPEN_REQUESTS: ["r"]}, Record()
    view = Properties(stored, record)

    view["c"] = 3
    view["a"] = 2
    del view["b"]

    assert dict(view) == {"a": 2, "c": 3}
    assert len(view) == 2
    assert "b" not in view
    assert OPEN_REQUESTS not in view
    assert stored == {"a": 1, "b": [1], OPEN_REQUESTS: ["r"]}
    assert changed(stored, record) == {"a": 2, "c": 3, OPEN_REQUESTS: ["r"]}
    assert visible(changed(stored, record)) == {"a": 2, "c": 3}
    view["b"] = 5
    assert changed(stored, record)["b"] == 5


def test_values_are_read_by_value_and_checked() -> None:
    stored = {"items": [1]}
    view = Properties(stored, Record())

    view["items"].append(2)

    assert stored == {"items": [1]}
    for key in (OPEN_REQUESTS, 5):
        with pytest.raises(ExecutionError, match="cannot be the name of a property"):
            view[key] = 1  # type: ignore[index] # what is tested
    with pytest.raises(ValueRefused):
        view["x"] = object()
    with pytest.raises(KeyError):
        del view["missing"]


@activity
async def visit(context: Context) -> int:
    context.properties["visits"] = context.properties.get("visits", 0) + 1
    assert context.transient_properties == {}
    context.transient_properties["effect"] = True
    return int(context.properties["visits"])


class Shares(Activity, pure=True):
    def execute(self, context: Context) -> None:
        context.transient_properties["n"] = context.transient_properties.get("n", 0) + 1
        context.properties["seen"] = [*context.properties.get("seen", []), context.transient_properties["n"]]


@activity(pure=True)
def forget(context: Context) -> None:
    context.properties.pop("by", None)


async def test_activities_read_and_write_them(runner: Runner) -> None:
    flow = Workflow(Sequence(visit.bind(), visit.bind(result="n"), forget.bind()), variables={"n": 0})

    result = await runner.run(flow, properties={"by": "ada", "kept": {"a": 1}})

    assert result.status is Status.FINISHED, result.incidents
    assert result.variables == {"n": 2}
    assert result.properties == {"visits": 2, "kept": {"a": 1}}


async def test_transient_ones_end_with_the_commit(runner: Runner) -> None:
    waiting = await runner.run(Workflow(Sequence(Shares(), Shares(), Event("go"), Shares())))
    ended = await runner.resume(waiting)

    assert waiting.properties == {"seen": [1, 2]}
    assert ended.properties == {"seen": [1, 2, 1]}
    assert "transient" not in str(ended.state)


async def test_a_failed_execution_changes_nothing(runner: Runner) -> None:
    @activity
    async def fails(context: Context) -> None:
        context.properties["x"] = 1
        raise ValueError("no")

    assert (await runner.run(fails.bind())).properties == {}


@pytest.mark.parametrize("given", [{OPEN_REQUESTS: []}, {"x": object()}])
async def test_a_start_checks_them(runner: Runner, given: Any) -> None:
    with pytest.raises((ExecutionError, ValueRefused)):
        await runner.run(Workflow(Event(expr("'x'"))), properties=given)
