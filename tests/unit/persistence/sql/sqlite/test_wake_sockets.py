"""Wake-ups between processes that use one file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.persistence.sql.sqlite.wake_sockets import WakeSockets


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "holdfast.db"
    path.touch()
    return path


@pytest.fixture
def pair(file: Path, tmp_path: Path) -> Iterator[tuple[WakeSockets, WakeSockets]]:
    made = WakeSockets(file, tmp_path / "s"), WakeSockets(file, tmp_path / "s")
    yield made
    for sockets in made:
        sockets.close()


async def woken(receiver: object) -> None:
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(receiver, done.set)  # type: ignore[arg-type]  # a socket
    try:
        async with asyncio.timeout(10):
            await done.wait()
    finally:
        loop.remove_reader(receiver)  # type: ignore[arg-type]  # a socket


async def test_a_process_wakes_the_others(pair: tuple[WakeSockets, WakeSockets]) -> None:
    writer, reader = pair
    receiver = reader.open()
    assert receiver is not None

    writer.wake()

    await woken(receiver)
    reader.received()
    with pytest.raises(BlockingIOError):
        receiver.recv(1)


async def test_a_new_process_wakes_the_others_which_then_know_it(pair: tuple[WakeSockets, WakeSockets]) -> None:
    old, new = pair
    first = old.open()
    old.wake()
    second = new.open()
    assert first is not None
    assert second is not None
    await woken(first)
    old.received()

    old.wake()

    await woken(second)


def test_processes_of_another_file_are_not_woken(file: Path, tmp_path: Path) -> None:
    other_file = tmp_path / "other.db"
    other_file.touch()
    one, other = WakeSockets(file, tmp_path / "s"), WakeSockets(other_file, tmp_path / "s")
    receiver = other.open()
    assert receiver is not None

    one.wake()

    with pytest.raises(BlockingIOError):
        receiver.recv(1)
    one.close()
    other.close()


def test_the_socket_of_a_dead_process_is_removed(file: Path, tmp_path: Path) -> None:
    dead, alive = WakeSockets(file, tmp_path / "s"), WakeSockets(file, tmp_path / "s")
    receiver = dead.open()
    assert receiver is not None
    receiver.close()  # The process died: the socket file stays.

    alive.wake()

    assert list((tmp_path / "s").iterdir()) == []
    alive.close()


def test_without_a_usable_folder_there_are_no_wake_ups(file: Path, tmp_path: Path) -> None:
    sockets = WakeSockets(file, tmp_path / ("x" * 120))
    assert sockets.open() is None

    sockets.wake()
    sockets.close()
