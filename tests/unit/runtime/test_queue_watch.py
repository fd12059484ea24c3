"""The watch on queues: no query without a change and without a due row."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from holdfast.model.changes import UNKNOWN, Change, of_rows, queue_topic
from holdfast.model.pulse import Pulse
from holdfast.model.work import WorkRow
from holdfast.runtime.queue_watch import BUSY_SECONDS, BUSY_SECONDS_MAX, HERD_SECONDS_MAX, DueRows, QueueWatch
from holdfast.testing.store_rows import work

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SOON = timedelta(milliseconds=1)


class FixedClock:
    def now(self) -> datetime:
        return NOW


class FakeStore:
    """The methods that the watch calls."""

    def __init__(self, left: timedelta | None = None) -> None:
        self.left = left
        self.looks: list[list[str]] = []
        self.on_change: Callable[[Change], None] = lambda change: None
        self.is_subscribed = False

    async def until_due(self, queues: list[str], *, lacking: Any = ()) -> timedelta | None:
        self.looks.append(queues)
        return self.left

    def subscribe(self, on_change: Callable[[Change], None], *, anything: bool = False) -> Callable[[], None]:
        self.on_change, self.is_subscribed = on_change, True

        def end() -> None:
            self.is_subscribed = False

        return end


def watched(store: Any, *queues: str) -> tuple[QueueWatch, DueRows]:
    clock: Any = FixedClock()
    watch = QueueWatch(store, clock)
    due = watch.of(queues)
    watch.start()
    return watch, due


def pulse_of(**until_due: timedelta) -> Pulse:
    return Pulse(
        now=NOW,
        epoch=0,
        nodes=(),
        until_due=until_due,
        next_schedule=None,
        has_lost_effects=False,
        has_waiting_effects=False,
        has_own_effects=False,
        has_inbox=False,
        has_outbox=False,
    )


def row_of(queue: str, due: datetime | None = None) -> WorkRow:
    return replace(work("acme"), queue=queue, due=due)


async def sleeps(due: DueRows) -> bool:
    """Whether the component that claims rows stays asleep now."""
    waiting = asyncio.create_task(due.wait())
    for _ in range(5):
        await asyncio.sleep(0)
    asleep = not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    return asleep


async def wakes(due: DueRows) -> None:
    async with asyncio.timeout(10):
        await due.wait()


async def test_a_node_looks_once_when_it_starts_and_then_sleeps() -> None:
    store = FakeStore()
    _, due = watched(store, "a")
    await wakes(due)
    assert not await due.is_due()

    assert await sleeps(due)
    assert store.looks == [["a"]]


async def test_the_next_due_time_is_remembered() -> None:
    _, due = watched(FakeStore(SOON), "a")
    await wakes(due)
    assert not await due.is_due()

    assert await sleeps(due)
    await wakes(due)


async def test_a_change_by_another_node_wakes_its_queue_only() -> None:
    store = FakeStore()
    watch, due = watched(store, "a")
    other = watch.of(["b"])
    await wakes(due)
    await wakes(other)
    store.on_change(Change(topics=frozenset({queue_topic("a")}), elsewhere=True))

    assert not await sleeps(due)
    assert await sleeps(other)


async def test_an_unknown_change_wakes_every_queue() -> None:
    store = FakeStore()
    watch, due = watched(store, "a")
    other = watch.of(["b"])
    await wakes(due)
    await wakes(other)
    store.on_change(UNKNOWN)

    assert not await sleeps(due)
    assert not await sleeps(other)


async def test_a_row_of_this_process_is_looked_for_unless_it_is_taken_at_once() -> None:
    store = FakeStore()
    _, due = watched(store, "a")
    await wakes(due)
    row = row_of("a")
    store.on_change(of_rows([row]))
    due.taken([(row.tenant, row.id)])
    await asyncio.sleep(0.005)
    assert await sleeps(due)

    store.on_change(of_rows([row]))
    await wakes(due)


async def test_a_timer_of_this_process_is_remembered_by_the_clock_of_the_store() -> None:
    store = FakeStore()
    watch, due = watched(store, "a")
    await wakes(due)
    watch.pulsed(replace(pulse_of(), now=NOW + timedelta(hours=1)))
    store.on_change(of_rows([row_of("a", NOW + timedelta(hours=2))]))
    assert await sleeps(due)

    store.on_change(of_rows([row_of("a", NOW + timedelta(minutes=59))]))
    assert not await sleeps(due)


async def test_the_pulse_makes_up_for_a_lost_change() -> None:
    watch, due = watched(FakeStore(), "a", "b")
    await wakes(due)
    watch.pulsed(pulse_of(a=timedelta(hours=1), b=SOON))
    assert await sleeps(due)
    await wakes(due)

    watch.pulsed(pulse_of(a=timedelta(0)))
    assert not await sleeps(due)
    assert set(watch.queues) == {"a", "b"}


async def test_due_rows_that_cannot_be_claimed_are_looked_at_ever_less_often() -> None:
    _, due = watched(FakeStore(timedelta(0)), "a")
    loop = asyncio.get_running_loop()
    pauses = []
    for _ in range(12):
        due._look_at = float("inf")
        due.took(0)
        pauses.append(due._look_at - loop.time())

    assert pauses[0] <= BUSY_SECONDS
    assert pauses[0] < pauses[3] < pauses[-1] <= BUSY_SECONDS_MAX
    due.took(3)
    assert not await sleeps(due)


async def test_changes_that_leave_nothing_to_claim_are_followed_ever_less_often() -> None:
    store = FakeStore()
    _, due = watched(store, "a")
    await wakes(due)
    for _ in range(10):
        assert not await due.is_due()
    store.on_change(UNKNOWN)

    assert await sleeps(due)
    assert due._look_at - asyncio.get_running_loop().time() <= HERD_SECONDS_MAX


async def test_a_node_without_room_looks_again_soon() -> None:
    _, due = watched(FakeStore(timedelta(0)), "a")
    await wakes(due)
    due.full()

    assert due._look_at - asyncio.get_running_loop().time() <= BUSY_SECONDS


async def test_the_watch_listens_between_start_and_stop() -> None:
    store = FakeStore()
    watch, _ = watched(store, "a")
    watch.start()
    assert store.is_subscribed

    watch.stop()
    watch.stop()
    assert not store.is_subscribed
