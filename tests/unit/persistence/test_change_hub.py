"""The hub of changes: subscribers, waiting calls, and publications from a thread."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from holdfast.model.changes import NO_TOPIC, UNKNOWN, Change
from holdfast.persistence.change_hub import ChangeHub

LONG, NOW = timedelta(seconds=30), timedelta(0)


async def test_subscribers_hear_every_change_until_they_end() -> None:
    hub, heard = ChangeHub(), list[Change]()
    end = hub.subscribe(heard.append)
    hub.publish(NO_TOPIC)
    hub.publish(UNKNOWN)
    end()
    end()
    hub.publish(NO_TOPIC)

    assert heard == [NO_TOPIC, UNKNOWN]
    assert not hub.is_used


async def test_a_waiting_call_returns_with_the_next_change() -> None:
    hub = ChangeHub()
    waiting = asyncio.create_task(hub.wait(0, LONG))
    await asyncio.sleep(0)
    assert hub.wants_anything
    hub.publish(NO_TOPIC)

    async with asyncio.timeout(5):
        assert await waiting == 1
    assert await hub.wait(0, LONG) == 1
    assert await hub.wait(1, NOW) == 1
    assert await hub.wait(1, timedelta(milliseconds=1)) == 1
    assert not hub.is_used


async def test_a_thread_publishes_to_the_event_loop() -> None:
    hub, heard = ChangeHub(), asyncio.Queue[Change]()
    hub.subscribe(heard.put_nowait)
    waiting = asyncio.create_task(hub.wait(0, LONG))
    await asyncio.sleep(0)

    await asyncio.to_thread(hub.publish_from_thread, UNKNOWN)

    async with asyncio.timeout(5):
        assert await heard.get() == UNKNOWN
        assert await waiting == 1


async def test_only_some_subscribers_want_changes_without_a_topic() -> None:
    hub = ChangeHub()
    hub.subscribe(lambda change: None)
    assert not hub.wants_anything

    end = hub.subscribe(lambda change: None, anything=True)
    assert hub.wants_anything
    end()
    assert not hub.wants_anything
