"""Writes of other processes: by wake-ups, and by polling as a fallback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from holdfast.model.changes import UNKNOWN, Change
from holdfast.persistence.change_hub import ChangeHub
from holdfast.persistence.sql.sqlite import foreign_writes
from holdfast.persistence.sql.sqlite.foreign_writes import ForeignWrites
from holdfast.persistence.sql.sqlite.wake_sockets import WakeSockets


class File:
    """A file with a data version, and the watch of one process on it."""

    def __init__(self, folder: Path, *, sockets: bool) -> None:
        path = folder / "holdfast.db"
        path.touch()
        self.version = 1
        self.looks = 0
        self.hub = ChangeHub()
        self.heard: asyncio.Queue[Change] = asyncio.Queue()
        place = folder / ("s" if sockets else "x" * 120)
        self.other = WakeSockets(path, place)
        self.writes = ForeignWrites(self.hub, WakeSockets(path, place), self.look)

    def look(self) -> int:
        self.looks += 1
        return self.version

    async def begin(self) -> None:
        self.hub.subscribe(self.heard.put_nowait)
        self.writes.start()
        async with asyncio.timeout(10):
            assert await self.heard.get() == UNKNOWN  # A write before the first look would be missed.

    async def hear(self) -> None:
        async with asyncio.timeout(10):
            assert await self.heard.get() == UNKNOWN


@pytest.fixture(params=[True, False], ids=["sockets", "polling"])
async def file(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[File]:
    made = File(tmp_path, sockets=request.param)
    yield made
    await made.writes.stop()
    made.other.close()


async def test_a_write_of_another_process_is_noticed(file: File) -> None:
    await file.begin()
    for _ in range(3):
        file.version += 1
        file.other.wake()
        await file.hear()


async def test_a_wake_up_is_noticed_without_a_poll(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_writes, "POLL_SECONDS_MIN", 60.0)
    monkeypatch.setattr(foreign_writes, "POLL_SECONDS_MAX", 60.0)
    file = File(tmp_path, sockets=True)
    await file.begin()
    file.version += 1
    file.other.wake()

    await file.hear()
    await file.writes.stop()
    file.other.close()


async def test_commits_of_this_process_are_not_reported_each_time(tmp_path: Path) -> None:
    file = File(tmp_path, sockets=False)
    await file.begin()
    file.writes._reported = float("inf")  # As if a write had just been reported.
    before = file.looks
    file.version += 1
    file.writes.own_commits += 1
    while file.looks < before + 2:  # noqa: ASYNC110 - the poll itself is what is awaited
        await asyncio.sleep(0.001)

    assert file.heard.empty()
    await file.writes.stop()


async def test_an_idle_process_polls_ever_less_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    ended = asyncio.Event()

    async def pause(self: ForeignWrites, seconds: float) -> bool:
        pauses.append(seconds)
        if len(pauses) > 20:
            ended.set()
            await asyncio.Event().wait()
        return False

    monkeypatch.setattr(ForeignWrites, "_pause", pause)
    file = File(tmp_path, sockets=False)
    await file.begin()
    async with asyncio.timeout(10):
        await ended.wait()

    assert pauses[0] == foreign_writes.POLL_SECONDS_MIN
    assert pauses == sorted(pauses)
    assert pauses[-1] == foreign_writes.POLL_SECONDS_MAX
    await file.writes.stop()


async def test_the_watch_ends_with_its_last_subscriber(file: File) -> None:
    end = file.hub.subscribe(lambda change: None)
    file.writes.start()
    file.writes.start()
    task = file.writes._task
    assert task is not None
    end()

    async with asyncio.timeout(10):
        await task
