"""The watch on queues: whether a row is due, and how long the next wait may take."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast.runtime.queue_watch import BUSY_INTERVAL, POLL_INTERVAL, QueueWatch


class FakeStore:
    """The two methods that the watch calls."""

    def __init__(self, left: timedelta | None) -> None:
        self.left = left
        self.waits: list[tuple[int, timedelta]] = []

    async def until_due(self, queues: Any, *, lacking: Any = ()) -> timedelta | None:
        assert queues == ["default"]
        return self.left

    async def wait_for_change(self, seen: int, time: timedelta) -> int:
        self.waits.append((seen, time))
        return seen + 1


@pytest.mark.parametrize(
    ("left", "is_due", "wait"),
    [
        (None, False, POLL_INTERVAL),
        (timedelta(0), True, BUSY_INTERVAL),
        (timedelta(milliseconds=-5), True, BUSY_INTERVAL),
        (timedelta(milliseconds=40), False, timedelta(milliseconds=40)),
        (timedelta(hours=1), False, POLL_INTERVAL),
    ],
)
async def test_a_wait_ends_when_the_next_row_is_due_or_after_a_poll(
    left: timedelta | None, is_due: bool, wait: timedelta
) -> None:
    store: Any = FakeStore(left)
    watch = QueueWatch(store, ["default"])

    assert await watch.is_due() is is_due
    await watch.wait()
    assert store.waits == [(0, wait)]


async def test_each_wait_begins_at_the_last_change_that_was_seen() -> None:
    store: Any = FakeStore(None)
    watch = QueueWatch(store, ["default"])
    await watch.rest()
    await watch.rest()

    assert [seen for seen, _ in store.waits] == [0, 1]
