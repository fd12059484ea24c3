"""Workflows of the cluster test, and the ledger in which activities record each call. `holdfast worker` imports this module.

Orders have steps, timers, events and children; cases have a human task and a variable that is altered meanwhile. The ledger is a
folder outside of the store. An entry is a file that is created once, so the file system refuses a second entry of the same key.
Every call is recorded before its entry, so that repeated calls can be counted.
"""

from __future__ import annotations

import asyncio
import os
import time
from datetime import timedelta
from pathlib import Path

from msgspec import Struct

from holdfast.activities.composition import ExecuteWorkflow
from holdfast.activities.control.parallel import Parallel
from holdfast.activities.control.sequence import Sequence
from holdfast.activities.events import Event
from holdfast.activities.human import HumanTask
from holdfast.activities.scheduling import Delay
from holdfast.authoring.fields import expr
from holdfast.authoring.function import activity
from holdfast.authoring.workflow import Workflow
from holdfast.ports import Context

LEDGER = "HOLDFAST_TEST_LEDGER"
"""The folder of the ledger."""
QUEUE = "heavy"


class Call(Struct, frozen=True, kw_only=True):
    """That an effect was called, whatever became of it."""

    key: str
    execution: int
    attempt: int
    at: float
    """Seconds since 1970."""


class Ledger:
    def __init__(self, folder: Path) -> None:
        self._entries = folder / "entries"
        self._calls = folder / "calls"
        self._entries.mkdir(parents=True, exist_ok=True)

    def book(self, key: str, execution: int, attempt: int) -> bool:
        """False if it has that key already."""
        self._note(f"{key} {execution} {attempt} {time.time()}\n")
        try:
            os.close(os.open(self._entries / key, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            return False
        return True

    def _note(self, line: str) -> None:
        """One write in append mode: whole or not at all."""
        handle = os.open(self._calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)

    @property
    def entries(self) -> set[str]:
        return {path.name for path in self._entries.iterdir()}

    @property
    def calls(self) -> list[Call]:
        """In order."""
        if not self._calls.exists():
            return []
        found = (line.split() for line in self._calls.read_text(encoding="utf-8").splitlines())
        return [
            Call(key=key, execution=int(execution), attempt=int(attempt), at=float(at))
            for key, execution, attempt, at in found
        ]


@activity(name="ClusterBook")
async def book(context: Context, what: str) -> str:
    """An effect with a key that stays the same for every attempt."""
    ledger = Ledger(Path(os.environ[LEDGER]))
    ledger.book(f"{context.instance_id}.{what}", context.execution_id, context.attempt)
    await asyncio.sleep(0.002)
    return what


SOON = timedelta(milliseconds=20)

item = Workflow(Sequence(Delay(SOON), book.bind(what="item", queue=QUEUE)), id="cluster_item")

order = Workflow(
    Sequence(
        book.bind(what="reserve"),
        Parallel(book.bind(what="charge", queue=QUEUE), Delay(SOON), book.bind(what="mail", queue=QUEUE)),
        Event("paid"),
        ExecuteWorkflow("cluster_item", wait=True),
        Delay(SOON),
        book.bind(what="ship", queue=QUEUE),
    ),
    id="cluster_order",
)

OF_ORDER = ("reserve", "charge", "mail", "ship")
"""What an order leaves in the ledger itself; its child leaves `item`."""
OF_CHILD = "item"

case = Workflow(
    Sequence(book.bind(what="open", queue=QUEUE), HumanTask("Look at it"), book.bind(what=expr("fee"), queue=QUEUE)),
    id="cluster_case",
    variables={"fee": "unpaid"},
)

OF_CASE = ("open", "paid")
"""What a case leaves in the ledger, once its fee was altered."""
