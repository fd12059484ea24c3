"""Workflows of every shape, for tests that run each of them with each commit strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from holdfast import Retry, Workflow, activity, expr
from holdfast.activities import (
    Delay,
    Event,
    ExecuteWorkflow,
    Flowchart,
    FlowJoin,
    ForEach,
    Fork,
    Parallel,
    Sequence,
    SetVariable,
    Try,
    While,
    WriteLine,
)

WORKFLOW = ("workflow_executing", "workflow_executed", "activity_executing", "activity_executed", "periodic")
ACTIVITY = ("always", "never", "executing", "executed")
ALL = (*WORKFLOW, *ACTIVITY, "periodic:PT0.001S")


@activity
async def double(n: int) -> int:
    return n * 2


_FAILED: set[str] = set()


@activity
async def stumble(name: str) -> str:
    """Fails once per name."""
    if name not in _FAILED:
        _FAILED.add(name)
        raise ConnectionError("not yet")
    return "stood up"


ACTIVITIES = [double, stumble]

CHILD = "strategy-child"


def child(commit: str | None) -> Workflow:
    return Workflow(Sequence(WriteLine("child"), SetVariable("got", 7)), id=CHILD, commit=commit, variables={"got": 0})


def lines(name: str) -> Any:
    return Sequence(WriteLine("1"), WriteLine("2"), SetVariable("out", 3))


def effects(name: str) -> Any:
    return Sequence(double.bind(n=2, result="out"), double.bind(n=expr("out"), result="out"))


def loops(name: str) -> Any:
    each = ForEach(expr("[1, 2, 3]"), double.bind(n=expr("CurrentValue"), result="seen"))
    return Sequence(each, While(expr("out < 4"), SetVariable("out", expr("out + 1"))))


def waits(name: str) -> Any:
    return Sequence(
        Delay(timedelta(milliseconds=1)), SetVariable("out", 1), Event("go"), SetVariable("out", expr("out + 1"))
    )


def children(name: str) -> Any:
    return Sequence(ExecuteWorkflow(CHILD), SetVariable("out", 5))


def forks(name: str) -> Any:
    branches = Parallel(double.bind(n=1, result="seen"), SetVariable("out", expr("out + 1")), Event("go"))
    race = Fork(SetVariable("out", expr("out + 10")), Event("never"), join="wait_any")
    return Sequence(branches, race)


def failures(name: str) -> Any:
    caught = Try(
        body=Sequence(SetVariable("out", 1), SetVariable("out", expr("1 / 0"))),
        catches=[{"errors": [], "activity": SetVariable("out", expr("out + 1"))}],
        finally_=SetVariable("out", expr("out + 10")),
    )
    retried = stumble.bind(
        name=name, result="text", retry=Retry(attempts=3, delay=timedelta(milliseconds=1)), id="stumble"
    )
    return Sequence(caught, retried)


def flowchart(name: str) -> Any:
    begin, left = WriteLine("begin", id="begin"), SetVariable("out", expr("out + 1"), id="left")
    right = double.bind(n=3, result="seen", id="right")
    join, last = FlowJoin("wait_all", id="join"), SetVariable("out", expr("out + 10"), id="last")
    links = [begin >> left, begin >> right, left >> join, right >> join, join >> last]
    return Flowchart(begin, connections=links)


SHAPES: Mapping[str, tuple[Callable[[str], Any], dict[str, Any]]] = {
    "lines": (lines, {"out": 3}),
    "effects": (effects, {"out": 8}),
    "loops": (loops, {"out": 4, "seen": 6}),
    "waits": (waits, {"out": 2}),
    "children": (children, {"out": 5}),
    "forks": (forks, {"out": 11, "seen": 2}),
    "failures": (failures, {"out": 12, "text": "stood up"}),
    "flowchart": (flowchart, {"out": 11, "seen": 6}),
}
"""The root of each shape, and the variables at its end."""
WAITS = ("waits", "forks")
"""Shapes that wait for the event `go`."""


def workflow(shape: str, commit: str | None, name: str, *, own: str | None = None) -> Workflow:
    """`own` is the commit option of the last activity."""
    root = SHAPES[shape][0](name)
    if own is not None:
        root = Sequence(root, SetVariable("ended", True, commit=own))
    variables = {"out": 0, "seen": 0, "text": "", "ended": False}
    return Workflow(root, id=f"{shape}-{name}", commit=commit, variables=variables)
