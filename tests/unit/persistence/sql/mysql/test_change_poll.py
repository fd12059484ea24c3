"""Changes by polling: commits of this process are published at once, commits of others are polled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from holdfast.model.changes import UNKNOWN, Change
from holdfast.persistence.sql.mysql import change_poll
from holdfast.persistence.sql.mysql.change_poll import ChangePoll, count_changes

LONG = timedelta(seconds=30)
OWN = Change(topics=frozenset({"queue:a"}))


class Counter:
    def __init__(self) -> None:
        self.number = 0
        self.reads = 0
        self._read = asyncio.Event()

    async def read(self) -> int:
        self.reads += 1
        self._read.set()
        return self.number

    async def read_times(self, times: int) -> None:
        """Wait for so many further reads."""
        for _ in range(times):
            self._read.clear()
            await self._read.wait()


@pytest.fixture
def counter() -> Counter:
    return Counter()


@pytest.fixture
async def changes(counter: Counter) -> AsyncIterator[ChangePoll]:
    made = ChangePoll(counter.read)
    yield made
    await made.close()


def test_the_number_of_changes_is_the_sum_of_all_rows() -> None:
    script = count_changes()
    assert "sum(value)" in next(script).sql
    with pytest.raises(StopIteration) as done:
        script.send([(7,)])

    assert done.value.value == 7


async def test_a_change_before_the_wait_returns_at_once(counter: Counter, changes: ChangePoll) -> None:
    changes.changed(OWN)

    assert await changes.wait(0, LONG) == 1
    assert counter.reads == 0


async def test_without_a_wait_nothing_is_polled(counter: Counter, changes: ChangePoll) -> None:
    assert await changes.wait(0, timedelta(0)) == 0
    assert counter.reads == 0


async def test_a_commit_of_this_process_wakes_a_waiting_call(changes: ChangePoll) -> None:
    seen = await changes.wait(0, LONG)  # The first poll: a change before it could be missed.
    waiting = asyncio.create_task(changes.wait(seen, LONG))
    await asyncio.sleep(0)
    changes.changed(OWN)

    async with asyncio.timeout(5):
        assert await waiting != seen


async def test_a_commit_of_another_process_is_polled(counter: Counter, changes: ChangePoll) -> None:
    heard: asyncio.Queue[Change] = asyncio.Queue()
    changes.subscribe(heard.put_nowait)
    async with asyncio.timeout(5):
        assert await heard.get() == UNKNOWN
        counter.number = 1
        assert await heard.get() == UNKNOWN
    assert counter.reads > 1


async def test_commits_of_this_process_are_not_taken_for_foreign_ones(
    counter: Counter, changes: ChangePoll, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_poll, "POLL_SECONDS_MIN", 0.0)
    monkeypatch.setattr(change_poll, "POLL_SECONDS_MAX", 0.0)
    heard: asyncio.Queue[Change] = asyncio.Queue()
    changes.subscribe(heard.put_nowait)
    async with asyncio.timeout(5):
        assert await heard.get() == UNKNOWN
        changes.changed(OWN)
        counter.number = 1
        assert await heard.get() == OWN
        await counter.read_times(3)

    assert heard.empty()


async def test_the_poll_ends_with_the_last_subscriber(
    counter: Counter, changes: ChangePoll, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_poll, "POLL_SECONDS_MIN", 0.0)
    changes.subscribe(lambda change: None)()
    task = changes._task
    assert task is not None

    async with asyncio.timeout(5):
        await task
    assert counter.reads == 1
