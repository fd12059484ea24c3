"""The clock that tests move."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from holdfast.testing.clock import START, VirtualClock


async def test_waiting_jumps() -> None:
    clock = VirtualClock()
    await clock.wait_until(START + timedelta(days=3))
    await clock.wait_until(START)

    assert clock.now() == START + timedelta(days=3)
    assert clock.waits == [START + timedelta(days=3), START]


async def test_a_clock_that_does_not_jump_is_moved_by_the_test() -> None:
    clock = VirtualClock(jump=False)
    sleeper = asyncio.create_task(clock.wait_until(START + timedelta(hours=2)))
    await clock.waited()
    clock.advance(timedelta(hours=1))
    await asyncio.sleep(0)
    assert not sleeper.done()
    clock.set(START + timedelta(hours=2))
    await sleeper

    assert clock.now_ns() == int((START + timedelta(hours=2)).timestamp()) * 1_000_000_000
