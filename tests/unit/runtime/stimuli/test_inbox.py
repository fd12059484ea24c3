"""The inbox: rows of kept stimuli, their delivery to later bookmarks, the sweep and the expiry."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Status, Workflow, expr
from holdfast.activities import Event, Sequence as Steps, SetOutput
from holdfast.model import values
from holdfast.model.commit import Commit
from holdfast.model.stored import BookmarkQuery, BookmarkRow
from holdfast.model.wake_keys import everyone_key
from holdfast.model.work import InboxRow
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli.inbox import ADDRESSED_RETENTION, BROADCAST_RETENTION, SWEEP_AFTER
from holdfast.runtime.stimuli.mail_drain import TWIN
from tests.support.memory_node import MemoryNode

WITHIN = 20
waiting = Workflow(
    Steps(Event("go", result="found"), SetOutput("said", expr("found"))),
    id="waits",
    variables={"found": None},
    outputs={"said": object},
)


def go(name: str = "s1", **more: Any) -> Stimulus:
    return Stimulus(id=name, type="Event", event_name="go", input=values.encode("hello"), **more)


async def keep(memory: MemoryNode, found: Stimulus) -> Sequence[InboxRow]:
    rows = memory.components.inbox.rows_for("", found)
    await memory.store.commit([Commit(f"keep-{found.id}", inbox_added=rows)])
    return rows


async def marks(memory: MemoryNode) -> Sequence[BookmarkRow]:
    query = BookmarkQuery(key=everyone_key("go"), limit=10)
    return (await memory.store.find_bookmarks([query])).bookmarks[0]


async def test_the_retention_depends_on_the_address(memory: MemoryNode) -> None:
    now, rows_for = memory.clock.now(), memory.components.inbox.rows_for

    assert [row.expires for row in rows_for("", go())] == [now + BROADCAST_RETENTION]
    keyed = rows_for("", go(key=values.encode("7")))
    assert [(row.id, row.expires) for row in keyed] == [("s1", now + ADDRESSED_RETENTION)]
    own = rows_for("acme", go(instance_id="order"))
    assert [(row.tenant, row.id, row.instance_id, row.expires) for row in own] == [
        ("acme", "s1", "order", None),
        ("acme", f"s1{TWIN}", "order", None),
    ]


async def test_a_new_bookmark_receives_a_kept_stimulus(memory: MemoryNode) -> None:
    await keep(memory, go(correlation_id="c"))

    await memory.runtime.start(waiting, instance_id="order", correlation_id="c")

    async with asyncio.timeout(WITHIN):
        assert (await memory.runtime.wait_at_rest("order")).outputs == {"said": "hello"}
    assert (await memory.store.stats("")).inbox == 0


async def test_a_kept_stimulus_finds_a_bookmark_that_was_committed_meanwhile(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order", correlation_id="c")
    found = go(correlation_id="c")
    await keep(memory, found)

    await memory.components.inbox.look("", found)

    assert (await memory.runtime.read("order")).outputs == {"said": "hello"}
    assert await marks(memory) == []
    assert (await memory.store.stats("")).inbox == 0


async def test_a_bookmark_that_is_committed_while_its_stimulus_searches_receives_it(
    memory: MemoryNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search of the stimulus has found no bookmark, but has not returned when the bookmark searches the inbox."""
    found, inbox = go(correlation_id="c"), memory.components.inbox
    await keep(memory, found)
    searched, go_on = asyncio.Event(), asyncio.Event()
    find_bookmarks = memory.store.find_bookmarks

    async def slow(queries: Any) -> Any:
        matches = await find_bookmarks(queries)
        searched.set()
        await go_on.wait()
        return matches

    with monkeypatch.context() as slowed:
        slowed.setattr(memory.store, "find_bookmarks", slow)
        searching = asyncio.create_task(inbox.look("", found))
        await searched.wait()
        await memory.runtime.start(waiting, instance_id="order", correlation_id="c")
        go_on.set()
        await searching

    async with asyncio.timeout(WITHIN):
        assert (await memory.runtime.wait_at_rest("order")).outputs == {"said": "hello"}
    assert memory.components.router.counts.get("swept", 0) == 0


async def test_a_bookmark_that_is_added_as_the_last_search_ends_is_searched(memory: MemoryNode) -> None:
    """The task of the search has ended, but its callback has not run yet."""
    inbox = memory.components.inbox
    await memory.runtime.start(waiting, instance_id="order", correlation_id="c")
    (mark,) = await marks(memory)
    ended = asyncio.create_task(asyncio.sleep(0))
    await ended
    await keep(memory, go(correlation_id="c"))

    inbox._search = ended
    inbox.bookmarks_added([mark])
    inbox._searched(ended)

    async with asyncio.timeout(WITHIN):
        assert (await memory.runtime.wait_at_rest("order")).outputs == {"said": "hello"}


async def test_the_sweep_delivers_what_a_dead_node_left(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order", correlation_id="c")
    await keep(memory, go(correlation_id="c"))
    assert await memory.components.inbox.sweep() == 0  # The node that kept it may be about to deliver it.

    memory.clock.advance(SWEEP_AFTER)

    assert await memory.components.inbox.sweep() == 1
    assert (await memory.runtime.read("order")).outputs == {"said": "hello"}
    assert await memory.components.inbox.sweep() == 0


async def test_the_sweep_leaves_stimuli_of_other_tenants_alone(memory: MemoryNode) -> None:
    other = memory.engine.runtime_on(memory.store, tenant="globex", node="other")
    async with other:
        await other.start(waiting, instance_id="order", correlation_id="c")
        rows = memory.components.inbox.rows_for("globex", go(correlation_id="c"))
        await memory.store.commit([Commit("keep", tenant="globex", inbox_added=rows)])
        memory.clock.advance(SWEEP_AFTER)

        assert await memory.components.inbox.sweep() == 0
        assert (await other.read("order")).status is Status.SUSPENDED


async def test_an_expired_stimulus_is_recorded_once(memory: MemoryNode) -> None:
    await keep(memory, go(correlation_id="c"))
    memory.clock.advance(ADDRESSED_RETENTION + timedelta(seconds=1))

    await memory.components.inbox.sweep()

    assert [item.id for item in await memory.components.expiry.list("")] == ["s1"]
    assert memory.components.stimulus_counts.by_outcome["expired"] == 1


async def test_a_sweep_returns_after_an_earlier_one_has_recorded_its_stimuli(
    memory: MemoryNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(memory, go())
    memory.clock.advance(BROADCAST_RETENTION + timedelta(seconds=1))
    expiry, recording, released = memory.components.expiry, asyncio.Event(), asyncio.Event()
    record = expiry.record

    async def slow(row: InboxRow) -> Stimulus:
        recording.set()
        await released.wait()
        return await record(row)

    monkeypatch.setattr(expiry, "record", slow)
    async with asyncio.timeout(WITHIN):
        first = asyncio.create_task(memory.components.inbox.sweep())
        await recording.wait()
        second = asyncio.create_task(memory.components.inbox.sweep())
        await asyncio.sleep(0)
        assert not second.done()
        released.set()
        await second
        assert first.done()
    assert len(await memory.runtime.stimuli.expired()) == 1
