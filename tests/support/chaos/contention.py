"""Worker processes that compete for the same instances and are killed at random: the common part of the chaos tests.

Each worker appends every acknowledged commit to a file of its own, one line each, unbuffered. A line without its row in the
database is a lost commit.
"""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic
from typing import Any

from msgspec import Struct

from tests.support.chaos.processes import start

WORKERS = 3
PATIENCE = 120.0
"""Seconds within which killed workers must have got somewhere."""

Crash = Callable[[], Awaitable[None]]


class ChaosReport(Struct, frozen=True, kw_only=True):
    kills: int
    db_crashes: int
    bursts: int
    acknowledged: int
    lost: int
    duplicated: int
    violations: tuple[str, ...]
    """Tables that disagree."""
    evidence: tuple[str, ...] = ()
    """What was lost or happened twice, by name."""

    @property
    def sound(self) -> bool:
        return not (self.lost or self.duplicated or self.violations) and self.bursts > 0


class Fight:
    """The workers, their files, and what was done to them."""

    def __init__(
        self, role: str, url: str, folder: Path, *, workers: int = WORKERS, fault: str = "", **arguments: Any
    ) -> None:
        self._role = role
        self._url = url
        self._folder = folder
        self._fault = fault
        self._arguments = arguments
        self._told: list[_Told] = []
        self.kills = 0
        self.crashes = 0
        self._workers = [self._start() for _ in range(workers)]

    def _start(self) -> subprocess.Popen[str]:
        life = len(self._told) + 1
        self._told.append(_Told(self._folder / f"{life}.ack"))
        return start(
            self._role,
            self._url,
            fault=self._fault,
            worker=f"w{life}",
            acknowledged=str(self._told[-1].path),
            **self._arguments,
        )

    async def rounds(self, kills: int, acknowledged: int, crash: Crash | None = None, crashes: int = 0) -> None:
        """Kill so often, each time after some progress, and crash the database in between; until so much was acknowledged."""
        at = {(number + 1) * kills // (crashes + 1) for number in range(crashes)} if crash is not None else set()
        for number in range(kills):
            await self.until_told(max(1, acknowledged // kills))
            self._kill_one()
            if crash is not None and number in at:
                await crash()
                self.crashes += 1
        await self.until_told(acknowledged - self.count)

    def _kill_one(self) -> None:
        victim = random.randrange(len(self._workers))
        self._check_alive()
        _end(self._workers[victim])
        self.kills += 1
        self._workers[victim] = self._start()

    def end(self) -> None:
        for worker in self._workers:
            _end(worker)

    async def until_told(self, more: int) -> None:
        """Until the workers together have heard of so many more commits."""
        wanted, until = self.count + more, monotonic() + PATIENCE
        while self.count < wanted:
            self._check_alive()
            if monotonic() > until:
                raise AssertionError(f"the workers make no progress: {self.count} of {wanted} acknowledged")
            await asyncio.sleep(random.uniform(0.005, 0.03))

    async def until_dead(self) -> None:
        """The only worker reaches its fault."""
        worker, until = self._workers[0], monotonic() + PATIENCE
        while worker.poll() is None:
            if monotonic() > until:
                raise AssertionError("the worker does not reach its fault")
            await asyncio.sleep(0.01)
        if worker.returncode != -signal.SIGKILL:
            raise AssertionError(f"the worker ended by itself with {worker.returncode}")
        self.kills += 1

    def _check_alive(self) -> None:
        ended = [worker.returncode for worker in self._workers if worker.poll() is not None]
        if ended:
            raise AssertionError(f"a worker ended by itself with {ended}")

    @property
    def count(self) -> int:
        return sum(told.count() for told in self._told)

    def acknowledged(self) -> list[tuple[str, str]]:
        """What workers were told is done, two words each."""
        return [told for file in self._told for told in file.lines()]


class _Told:
    """The file of one run of a worker. A line that a kill cut off is ignored."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = 0
        self._lines = 0
        path.touch()

    def count(self) -> int:
        """Whole lines; only what is new is read."""
        if self.path.stat().st_size > self._read:
            with self.path.open("rb") as file:
                file.seek(self._read)
                new = file.read()
            self._read += len(new)
            self._lines += new.count(b"\n")
        return self._lines

    def lines(self) -> list[tuple[str, str]]:
        whole, _, _ = self.path.read_text().rpartition("\n")
        return [(what, whose) for what, _, whose in (line.partition(" ") for line in whole.splitlines())]


def _end(worker: subprocess.Popen[str]) -> None:
    worker.kill()
    worker.communicate()
