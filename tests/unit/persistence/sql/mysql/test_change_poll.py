"""Change notification by polling: commits of this process wake waiting calls, commits of others are polled."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from holdfast.persistence.sql.mysql import change_poll
from holdfast.persistence.sql.mysql.change_poll import ChangePoll, count_changes

LONG = timedelta(seconds=30)


class Counter:
    def __init__(self) -> None:
        self.number = 0
        self.reads = 0

    async def read(self) -> int:
        self.reads += 1
        return self.number


def test_the_number_of_changes_is_the_sum_of_all_rows() -> None:
    script = count_changes()
    assert "sum(value)" in next(script).sql
    with pytest.raises(StopIteration) as done:
        script.send([(7,)])

    assert done.value.value == 7


async def test_a_change_before_the_wait_returns_at_once() -> None:
    counter = Counter()
    counter.number = 1

    assert await ChangePoll(counter.read).wait(0, LONG) == 1
    assert counter.reads == 1


async def test_the_timeout_returns_the_old_number() -> None:
    assert await ChangePoll(Counter().read).wait(0, timedelta(milliseconds=1)) == 0


async def test_a_commit_of_this_process_wakes_a_waiting_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_poll, "_POLL_INTERVAL", LONG.total_seconds())
    counter = Counter()
    changes = ChangePoll(counter.read)
    waiting = asyncio.create_task(changes.wait(0, LONG))
    await asyncio.sleep(0)
    counter.number = 1
    changes.notify_change()

    async with asyncio.timeout(5):
        assert await waiting == 1


async def test_a_commit_of_another_process_is_polled() -> None:
    counter = Counter()
    waiting = asyncio.create_task(ChangePoll(counter.read).wait(0, LONG))
    await asyncio.sleep(0)
    counter.number = 1

    async with asyncio.timeout(5):
        assert await waiting == 1
    assert counter.reads > 1
