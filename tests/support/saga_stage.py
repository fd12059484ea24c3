"""A stage for sagas: activities that log their beginning and end, and that a test stops at a chosen place.

The activities are functions of this module, so every node of a test knows them. The log belongs to one instance.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from datetime import timedelta
from typing import Any

from msgspec import Struct

from holdfast import Activity, Context, OnLost, Retry, Workflow, activity
from holdfast.activities import Compensable, Compensate, Event, ExecuteWorkflow, Sequence, Try

LIMIT = timedelta(hours=1)
"""Timeout of the workflow; tests fire its timer by hand."""
STEP_QUEUE = "machine-room"


class Stage:
    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.log: dict[str, list[str]] = defaultdict(list)
        """`+name` when an activity begins, `-name` when it ends, by instance."""
        self.stops: dict[str, set[str]] = defaultdict(set)
        """Names of the activities that wait for `release`, by instance."""
        self.stops_of_all: set[str] = set()
        """The same for every instance: the id of a child is not known before it runs."""
        self.fails: dict[str, set[str]] = defaultdict(set)
        self.release: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._reached: dict[tuple[str, str], asyncio.Event] = defaultdict(asyncio.Event)

    async def reached(self, instance_id: str, entry: str) -> None:
        """Wait until the log of the instance has this entry."""
        await self._reached[instance_id, entry].wait()

    def write(self, instance_id: str, entry: str) -> None:
        self.log[instance_id].append(entry)
        self._reached[instance_id, entry].set()

    async def perform(self, instance_id: str, name: str) -> None:
        self.write(instance_id, f"+{name}")
        try:
            if name in self.stops[instance_id] or name in self.stops_of_all:
                await self.release[instance_id].wait()
            if name in self.fails[instance_id]:
                raise ValueError(name)
        except asyncio.CancelledError:
            self.write(instance_id, f"!{name}")
            await self.release[instance_id].wait()  # Its end takes time: nothing may be undone before it.
            raise
        finally:
            self.write(instance_id, f"-{name}")


stage = Stage()


@activity
async def perform(name: str, context: Context) -> None:
    await stage.perform(context.instance_id, name)


ACTIVITIES = [perform]


def do(name: str, **options: Any) -> Activity:
    return perform.bind(name=name, id=name.replace(" ", "-"), **options)


def undoable(name: str, *, asks: bool = False) -> Compensable:
    undo: Activity = do(f"undo {name}")
    if asks:
        undo = Sequence(Event(f"may-undo-{name}"), undo)
    return Compensable(body=do(name), compensation=undo)


def saga(middle: Activity | None = None, *, asks: bool = False, waits: bool = True, id: str = "saga") -> Workflow:
    """Three works that can be undone, then `pay` and a wait in a Try whose handler compensates and whose `finally` waits."""
    last: Activity = Sequence(do("tidy"), Event("may-tidy"), do("swept")) if asks else do("tidy")
    body = Sequence(*[item for item in (middle or do("pay"), Event("go") if waits else None, do("ship")) if item])
    return Workflow(
        Sequence(
            undoable("a"),
            undoable("b", asks=asks),
            undoable("c"),
            Try(body=body, catches=[{"activity": Compensate()}], finally_=last),
            do("after"),
        ),
        id=id,
        timeout=LIMIT,
    )


def child_saga() -> Workflow:
    return Workflow(Try(body=do("work"), finally_=do("close")), id="child-saga")


def parent_saga() -> Workflow:
    return saga(ExecuteWorkflow("child-saga", wait=True), id="parent-saga")


def step_saga(**options: Any) -> Workflow:
    return saga(do("pay", queue=STEP_QUEUE, **options), id="step-saga")


def held_saga() -> Workflow:
    return saga(do("pay", on_lost=OnLost.HOLD), id="held-saga")


def retrying_saga(**options: Any) -> Workflow:
    policy = Retry(attempts=3, delay=timedelta(hours=1), delay_max=timedelta(hours=1))
    return saga(do("pay", retry=policy, **options), id="retrying-saga")


# -- moments and promises ----------------------------------------------------------------------------------------------

UNDOS = ["undo c", "undo b", "undo a"]
FINALLY = {"tidy", "swept"}


class Moment(Struct, frozen=True, kw_only=True):
    """A place at which the saga is stopped."""

    stop: str | None = None
    """The activity that is running; None: the saga waits at a bookmark."""
    fails: str | None = None
    """The activity that fails before."""
    goes: bool = False
    """The event `go` has arrived before."""
    canceled: bool = False
    """The saga was canceled before, while it waited for `go`."""
    waits: str | None = None
    """The event at which it waits."""
    asks: bool = False
    compensates: bool = False
    """The workflow itself has begun to compensate."""


MOMENTS = {
    "effect": Moment(stop="pay"),
    "between": Moment(waits="go"),
    "finally of the normal end": Moment(stop="tidy", goes=True),
    "finally after a fault": Moment(stop="tidy", fails="pay", compensates=True),
    "finally of a cancel": Moment(stop="tidy", canceled=True),
    "finally waits": Moment(waits="may-tidy", goes=True, asks=True),
    "finally of a cancel waits": Moment(waits="may-tidy", canceled=True, asks=True),
    "compensation 1": Moment(stop="undo c", fails="pay", compensates=True),
    "compensation 2": Moment(stop="undo b", fails="pay", compensates=True),
    "compensation 3": Moment(stop="undo a", fails="pay", compensates=True),
    "compensation 2 of a cancel": Moment(stop="undo b", canceled=True),
    "compensation waits": Moment(waits="may-undo-b", fails="pay", asks=True, compensates=True),
}


def check(name: str, moment: Moment, act: str, log: list[str], before: int) -> None:
    """The promises of rule M1, by the log of the saga. `before` is the length of the log at the time of the act."""
    begun, ended = entries(log, "+"), entries(log, "-")
    where = f"{act} at {name}: {log}"
    assert len(begun) == len(set(begun)), where
    running: set[str] = set()
    for entry in log:
        word = entry[1:]
        if entry[0] == "+":
            undoes = word in FINALLY or word in UNDOS
            assert not (undoes and running), where
            running.add(word)
        elif entry[0] == "-":
            running.discard(word)
    if act == "terminate":
        assert not entries(log[before:], "+"), where
        return
    assert set(begun) == set(ended), where
    assert "after" not in begun, where
    wanted = UNDOS if act == "cancel" or moment.compensates else []
    assert [word for word in begun if word in UNDOS] == wanted, where
    assert "tidy" in begun, where


def entries(log: list[str], mark: str) -> list[str]:
    return [entry[1:] for entry in log if entry[0] == mark]
