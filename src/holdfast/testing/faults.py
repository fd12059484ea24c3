"""Make the process die, or an operation fail, at a named point of the commit path.

    with faults.at("commit.written", faults.die):        # this process is gone when the point is reached
    with faults.at("commit.done", faults.raising(ConnectionResetError), times=1):

The points are listed in `holdfast.persistence.faultpoints`. A child process takes its fault from the environment:
`HOLDFAST_TEST_FAULT=commit.written:3` kills it the third time that the point is reached (see `from_environment`).
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
    """End the process as `kill -9` does: nothing is flushed, closed or said."""
    os.kill(os.getpid(), signal.SIGKILL)


def raising(error: type[BaseException] | BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


@contextmanager
def at(point: str, action: Callable[[], None], *, after: int = 0, times: int | None = None) -> Iterator[list[str]]:
    """Act when the point is reached: not the first `after` times, then `times` times (None: always).

    Gives the list of all points that were reached, in order.
    """
    if point not in faultpoints.POINTS:
        raise SettingsError(f"There is no fault point '{point}'. There are: {', '.join(faultpoints.POINTS)}")
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
    """Die where `HOLDFAST_TEST_FAULT=point[:count]` says; do nothing without it."""
    asked = (os.environ if environment is None else environment).get(VARIABLE, "")
    if not asked:
        yield
        return
    point, _, count = asked.partition(":")
    with at(point, die, after=int(count or 1) - 1):
        yield
