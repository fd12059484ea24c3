"""Waiting for an instance on this node: for the next change, and until no work on it is left."""

from __future__ import annotations

import asyncio

from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.instance_watch import InstanceWatch
from holdfast.testing.store_rows import instance

I, J = InstanceKey("", "i"), InstanceKey("", "j")


async def test_every_subscriber_is_woken_by_the_next_change() -> None:
    watching = InstanceWatch(lambda _: True)
    first, second, other = watching.next_change(I), watching.next_change(I), watching.next_change(J)
    watching.notify(I)

    assert (first.done(), second.done(), other.done()) == (True, True, False)


async def test_nothing_is_waited_for_where_no_work_is_left() -> None:
    assert await InstanceWatch(lambda _: False).rest(I) is None


async def test_the_row_of_an_ended_instance_is_given_when_no_work_is_left() -> None:
    working = {I}
    watching = InstanceWatch(working.__contains__)
    waiting = asyncio.create_task(watching.rest(I))
    await asyncio.sleep(0)

    watching.notify(I)
    watching.notify(I, more_in_hand=True)
    assert not waiting.done()

    ended = instance("i", status="finished")
    watching.ended(I, ended)
    working.clear()
    watching.notify(I)
    assert await waiting is ended


async def test_a_faulted_instance_may_be_retried_so_its_row_is_not_given() -> None:
    working = {I}
    watching = InstanceWatch(working.__contains__)
    waiting = asyncio.create_task(watching.rest(I))
    await asyncio.sleep(0)
    watching.ended(I, instance("i", status="faulted"))
    working.clear()
    watching.notify(I)

    assert await waiting is None


async def test_a_canceled_subscriber_does_not_harm_the_others() -> None:
    watching = InstanceWatch(lambda _: True)
    first, second = watching.next_change(I), watching.next_change(I)
    first.cancel()
    watching.notify(I)

    assert second.done()
