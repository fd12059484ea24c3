"""Work rows in hand: callers wait until a row is done."""

from __future__ import annotations

import asyncio

from holdfast.runtime.work_queue.rows_in_hand import RowsInHand, row_key
from holdfast.testing.store_rows import work

KEY = ("acme", "w1")


def test_a_row_is_known_by_tenant_and_id() -> None:
    assert row_key(work("acme", id="w1")) == KEY


async def test_all_waits_end_when_the_row_is_done() -> None:
    rows = RowsInHand()
    rows.update([KEY, ("globex", "w1")])
    waiting = [asyncio.create_task(rows.wait_done(KEY)) for _ in range(2)]
    other = asyncio.create_task(rows.wait_done(("globex", "w1")))
    await asyncio.sleep(0)

    rows.discard(KEY)
    async with asyncio.timeout(5):
        await asyncio.gather(*waiting)

    assert not other.done()
    rows.discard(("globex", "w1"))
    await other


async def test_a_wait_for_a_row_that_is_not_in_hand_ends_at_once() -> None:
    async with asyncio.timeout(5):
        await RowsInHand().wait_done(KEY)


async def test_a_canceled_wait_leaves_the_others() -> None:
    rows = RowsInHand()
    rows.add(KEY)
    first, second = (asyncio.create_task(rows.wait_done(KEY)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    assert not second.done()

    rows.discard(KEY)
    await second
