"""The pulse in memory; the contract of stores tests its answers."""

from __future__ import annotations

from datetime import timedelta

from holdfast.model.work import Owner
from holdfast.persistence.memory import MemoryStore
from holdfast.testing.clock import VirtualClock
from holdfast.testing.store_rows import work


async def test_due_times_follow_the_clock_of_the_store() -> None:
    clock = VirtualClock(jump=False)
    store = MemoryStore(now=clock.now)
    await store.enqueue([work("acme", queue="a", due=clock.now() + timedelta(hours=1))])
    assert (await store.pulse(Owner("n", 1), ["a"])).until_due == {"a": timedelta(hours=1)}

    clock.advance(timedelta(hours=2))

    pulse = await store.pulse(Owner("n", 1), ["a"])
    assert (pulse.now, pulse.until_due) == (clock.now(), {"a": -timedelta(hours=1)})
