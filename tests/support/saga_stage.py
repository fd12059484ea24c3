"""A stage for sagas: activities that log their beginning and end, and that a test stops at a chosen place.

The activities are functions of this module, so every node of a test knows them. The log belongs to one instance.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from datetime import timedelta
from typing import Any

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
            if name in self.stops[instance_id]:
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


def saga(middle: Activity | None = None, *, asks: bool = False, id: str = "saga") -> Workflow:
    """Three works that can be undone, then `pay` and a wait in a Try whose handler compensates and whose `finally` waits."""
    last: Activity = Sequence(do("tidy"), Event("may-tidy"), do("swept")) if asks else do("tidy")
    body = Sequence(middle or do("pay"), Event("go"), do("ship"))
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
