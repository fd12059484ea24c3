"""The saga of the cancel chaos test, and the log in which its activities write when they begin and end.

`holdfast worker` imports this module. The log is one file outside of the store; each line is appended in one write.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from msgspec import Struct

from holdfast.activities.control.attempt import Try
from holdfast.activities.control.compensation import Compensable
from holdfast.activities.control.sequence import Sequence
from holdfast.authoring.activity import Activity
from holdfast.authoring.function import activity
from holdfast.authoring.workflow import Workflow
from holdfast.ports import Context

LOG = "HOLDFAST_TEST_SAGA_LOG"
QUEUE = "heavy"
WORKS = ("a", "b", "c")
UNDOS = ("undo-c", "undo-b", "undo-a")


class Line(Struct, frozen=True):
    mark: str
    """`+` begins, `-` ends, `!` the process was killed."""
    pid: int
    instance_id: str = ""
    what: str = ""


def write(path: Path, line: Line) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(handle, f"{line.mark} {line.pid} {line.instance_id} {line.what}\n".encode())
    finally:
        os.close(handle)


def read(path: Path) -> list[Line]:
    return read_from(path, 0)[0]


def read_from(path: Path, offset: int) -> tuple[list[Line], int]:
    """The lines from this place on, and the place behind them."""
    if not path.exists():
        return [], offset
    with path.open("rb") as log:
        log.seek(offset)
        data = log.read()
    whole = data[: data.rfind(b"\n") + 1]
    found = (line.split(" ") for line in whole.decode().splitlines())
    return [Line(mark, int(pid), instance_id, what) for mark, pid, instance_id, what in found], offset + len(whole)


@activity(name="ChaosPerform")
async def perform(context: Context, what: str, seconds: float) -> None:
    path, pid = Path(os.environ[LOG]), os.getpid()
    write(path, Line("+", pid, context.instance_id, what))
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        await asyncio.sleep(0.05)  # Its end takes time.
        raise
    finally:
        write(path, Line("-", pid, context.instance_id, what))


def do(what: str, seconds: float = 0.02, queue: str | None = None) -> Activity:
    return perform.bind(what=what, seconds=seconds, queue=queue, id=what)


saga = Workflow(
    Sequence(
        *(
            Compensable(body=do(what, queue=QUEUE if what == "b" else None), compensation=do(f"undo-{what}", 0.05))
            for what in WORKS
        ),
        Try(body=Sequence(do("pay", 0.3), do("ship", 0.3, QUEUE)), finally_=do("tidy", 0.05)),
    ),
    id="chaos_saga",
)
