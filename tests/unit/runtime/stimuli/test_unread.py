"""Stimuli that were kept for an instance until it ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from holdfast import Workflow
from holdfast.activities import Event
from holdfast.model.commit import Commit
from holdfast.model.instance import JournalEvent
from holdfast.model.stored import InstanceKey
from holdfast.model.work import InboxRow, WorkRow
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli.unread import CHECK_AFTER, CHECK_PAUSE_MAX, check_row
from tests.support.memory_node import MemoryNode

KEY = InstanceKey("", "order")
waiting = Workflow(Event("go"), id="waits")


async def keep(memory: MemoryNode, name: str, event: str) -> None:
    found = Stimulus(id=name, type="Event", event_name=event, instance_id=KEY.id)
    rows = memory.components.inbox.rows_for("", found)
    await memory.store.commit([Commit(f"keep-{name}", inbox_added=rows)])


async def check_rows(memory: MemoryNode) -> list[WorkRow]:
    export = await memory.store.export_instance("", KEY.id)
    return [] if export is None else [row for row in export.work if row.kind == "unread"]


async def test_one_row_checks_an_instance(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id=KEY.id)
    for _ in range(2):
        await memory.store.enqueue([check_row(KEY, memory.clock.now())])

    (row,) = await check_rows(memory)
    assert (row.id, row.due) == ("order.unread", memory.clock.now() + CHECK_AFTER)


async def test_stimuli_of_an_ended_instance_are_journaled_once(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id=KEY.id)
    await memory.store.enqueue([check_row(KEY, memory.clock.now())])
    (row,) = await check_rows(memory)
    await keep(memory, "s1", "late")
    await keep(memory, "s2", "later")
    await memory.runtime.cancel(KEY.id)

    assert await memory.components.unread.check(row) == 2

    journal = await memory.runtime.journal(KEY.id)
    unread = [entry.data["name"] for entry in journal if entry.event is JournalEvent.UNREAD]
    assert sorted(unread) == ["late", "later"]
    assert await memory.store.inbox_of("", KEY.id) == []
    assert await check_rows(memory) == []
    assert await memory.components.unread.check(row) == 0


@pytest.mark.parametrize(
    ("age", "pause"),
    [
        (timedelta(seconds=1), CHECK_AFTER),
        (timedelta(minutes=7), timedelta(minutes=7)),
        (timedelta(days=2), CHECK_PAUSE_MAX),
    ],
)
async def test_a_running_instance_is_checked_ever_more_rarely(
    memory: MemoryNode, age: timedelta, pause: timedelta
) -> None:
    await memory.runtime.start(waiting, instance_id=KEY.id)
    await keep(memory, "s1", "other")
    await memory.store.enqueue([check_row(KEY, memory.clock.now())])
    (row,) = await check_rows(memory)
    memory.clock.advance(age)

    assert await memory.components.unread.check(row) == 0

    (again,) = await check_rows(memory)
    assert again.due == memory.clock.now() + pause


async def test_without_an_instance_or_a_stimulus_the_row_is_deleted(memory: MemoryNode) -> None:
    gone = check_row(InstanceKey("", "gone"), memory.clock.now())
    await memory.store.enqueue([gone])
    await memory.runtime.start(waiting, instance_id=KEY.id)
    await memory.store.enqueue([check_row(KEY, memory.clock.now())])
    (row,) = await check_rows(memory)

    assert [await memory.components.unread.check(item) for item in (gone, row)] == [0, 0]
    await memory.components.spent.wait()

    memory.clock.advance(timedelta(days=1))
    assert await memory.store.until_due(["default"]) is None


@pytest.mark.parametrize("first", [0, 1])
async def test_a_stimulus_that_is_kept_during_the_check_is_checked_too(
    memory: MemoryNode, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    """It finds the row that the check is about to delete, and adds none."""
    await memory.runtime.start(waiting, instance_id=KEY.id)
    await memory.store.enqueue([check_row(KEY, memory.clock.now())])
    (row,) = await check_rows(memory)
    for number in range(first):
        await keep(memory, f"s{number}", "early")
    await memory.runtime.cancel(KEY.id)
    inbox_of = memory.store.inbox_of

    async def inbox_before_the_next(tenant: str, instance_id: str) -> Sequence[InboxRow]:
        monkeypatch.undo()
        found = await inbox_of(tenant, instance_id)
        await keep(memory, "next", "late")
        await memory.store.enqueue([check_row(KEY, memory.clock.now())])
        return found

    monkeypatch.setattr(memory.store, "inbox_of", inbox_before_the_next)
    assert await memory.components.unread.check(row) == first
    await memory.components.spent.wait()

    (again,) = await check_rows(memory)
    assert await memory.components.unread.check(again) == 1
    assert await memory.store.inbox_of("", KEY.id) == []
    assert await check_rows(memory) == []
