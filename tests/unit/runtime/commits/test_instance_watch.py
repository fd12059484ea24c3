"""Waiting for an instance on this node: for the next change, and until no work on it is left."""

from __future__ import annotations

import asyncio

from holdfast.runtime.commits.instance_watch import Watching
from holdfast.testing.store_rows import instance


async def test_every_subscriber_is_woken_by_the_next_change() -> None:
    watching = Watching(lambda _: True)
    first, second, other = watching.news("i"), watching.news("i"), watching.news("j")
    watching.tell("i")

    assert (first.done(), second.done(), other.done()) == (True, True, False)


async def test_nothing_is_waited_for_where_no_work_is_left() -> None:
    assert await Watching(lambda _: False).rest("i") is None


async def test_the_row_of_an_ended_instance_is_given_when_no_work_is_left() -> None:
    working = {"i"}
    watching = Watching(working.__contains__)
    waiting = asyncio.create_task(watching.rest("i"))
    await asyncio.sleep(0)

    watching.tell("i")
    watching.tell("i", goes_on=True)
    assert not waiting.done()

    ended = instance("i", status="finished")
    watching.ended(ended)
    working.clear()
    watching.tell("i")
    assert await waiting is ended


async def test_a_faulted_instance_may_be_retried_so_its_row_is_not_given() -> None:
    working = {"i"}
    watching = Watching(working.__contains__)
    waiting = asyncio.create_task(watching.rest("i"))
    await asyncio.sleep(0)
    watching.ended(instance("i", status="faulted"))
    working.clear()
    watching.tell("i")

    assert await waiting is None


async def test_a_canceled_subscriber_does_not_harm_the_others() -> None:
    watching = Watching(lambda _: True)
    first, second = watching.news("i"), watching.news("i")
    first.cancel()
    watching.tell("i")

    assert second.done()
