"""Fault injection: kill the process or fail an operation at a named point of the commit path.

    with faults.at("commit.written", faults.die):        # kills this process at the point
    with faults.at("commit.done", faults.raising(ConnectionResetError), times=1):

`holdfast.persistence.faultpoints` lists the points. A child process takes its fault from the environment:
`HOLDFAST_TEST_FAULT=commit.written:3` kills it when it reaches the point for the third time (see `from_environment`).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock

from holdfast.errors import SettingsError
from holdfast.persistence import faultpoints

VARIABLE = "HOLDFAST_TEST_FAULT"


def die() -> None:
    """End the process like `kill -9`: nothing is flushed or closed."""
    os.kill(os.getpid(), signal.SIGKILL)


def raising(error: type[BaseException] | BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


@contextmanager
def at(point: str, action: Callable[[], None], *, after: int = 0, times: int | None = None) -> Iterator[list[str]]:
    """Run an action when the point is reached: skip the first `after` times, then run it `times` times (None: always).

    Yields the list of all points reached, in order.
    """
    if point not in faultpoints.POINTS:
        raise SettingsError(f"Unknown fault point '{point}'. Known: {', '.join(faultpoints.POINTS)}")
    seen: list[str] = []
    lock = Lock()

    def hook(reached: str) -> None:
        with lock:
            seen.append(reached)
            count = seen.count(point) - after
        if reached == point and count > 0 and (times is None or count <= times):
            action()

    before, faultpoints.hook = faultpoints.hook, hook
    try:
        yield seen
    finally:
        faultpoints.hook = before


@contextmanager
def from_environment(environment: Mapping[str, str] | None = None) -> Iterator[None]:
    """Die at the point in `HOLDFAST_TEST_FAULT=point[:count]`; do nothing without the variable."""
    setting = (os.environ if environment is None else environment).get(VARIABLE, "")
    if not setting:
        yield
        return
    point, _, count = setting.partition(":")
    with at(point, die, after=int(count or 1) - 1):
        yield
