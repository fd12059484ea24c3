"""The poller: rows that this node added itself, claimed rows, retries with pauses, and dead letters."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast import Status, Workflow, expr
from holdfast.activities import Event, Sequence, SetOutput
from holdfast.errors import (
    CodeMissing,
    DefinitionError,
    HoldfastError,
    PayloadRefused,
    StateUnreadable,
    StoreUnavailable,
    UnknownValueType,
)
from holdfast.model.values import TypeRegistry
from holdfast.model.work import WorkKind, WorkRow
from holdfast.runtime.commits import dead_letters, work_rows
from holdfast.runtime.work_queue import poller as poller_module
from holdfast.runtime.work_queue.poller import ATTEMPTS_MAX, RETRY_PAUSE, Poller
from holdfast.runtime.work_queue.rows_in_hand import row_key
from tests.support.memory_node import MemoryNode

waiting = Workflow(
    Sequence(Event("go", result="found"), SetOutput("said", expr("found"))),
    id="waits",
    variables={"found": None},
    outputs={"said": object},
)


async def resume_row(memory: MemoryNode, name: str) -> WorkRow:
    """A stored row that resumes the only bookmark of a new instance."""
    await memory.runtime.start(waiting, instance_id=name)
    (mark,) = (await memory.runtime.read(name)).bookmarks
    row = work_rows.resume("", f"w-{name}", name, mark.id, b"", memory.clock.now())
    await memory.store.enqueue([row])
    return row


async def done(poller: Poller, row: WorkRow) -> None:
    async with asyncio.timeout(10):
        await poller.in_hand.wait_done(row_key(row))


async def test_due_rows_run_and_are_consumed(memory: MemoryNode) -> None:
    rows = [await resume_row(memory, name) for name in ("a", "b")]

    assert await memory.components.poller.take_due() == 2

    assert [(await memory.runtime.read(row.instance_id or "")).status.at_rest for row in rows] == [True, True]
    assert await memory.components.poller.take_due() == 0


async def test_a_paused_node_takes_nothing(memory: MemoryNode) -> None:
    row = await resume_row(memory, "a")
    memory.runtime.intake.paused = True

    assert await memory.components.poller.take_due() == 0
    memory.components.poller.take_own([row])
    assert row_key(row) not in memory.components.poller.in_hand


async def test_after_a_crash_rows_are_taken_carefully(memory: MemoryNode, monkeypatch: pytest.MonkeyPatch) -> None:
    poller = memory.components.poller

    async def one() -> int:
        return 1

    monkeypatch.setattr(poller, "take_one_in_quarantine", one)
    for name in ("a", "b"):
        await resume_row(memory, name)
    memory.runtime.intake.start_quarantine()

    assert await poller.take_due() == 1
    assert not poller.takes_own_of("")


async def test_own_rows_run_at_once_if_this_node_serves_their_queue(memory: MemoryNode) -> None:
    poller, row = memory.components.poller, await resume_row(memory, "a")
    assert [poller.takes_own(queue) for queue in ("default", "mail", "default@acme")] == [True, False, False]

    poller.take_own([row])
    await done(poller, row)

    assert (await memory.runtime.read("a")).status.at_rest


async def test_rows_that_are_not_due_are_not_taken_at_once(memory: MemoryNode) -> None:
    poller, row = memory.components.poller, await resume_row(memory, "a")
    later = WorkRow(
        id="later", kind=WorkKind.RESUME, instance_id="a", due=memory.clock.now() + RETRY_PAUSE, created=row.created
    )
    timer = WorkRow(id="timer", kind=WorkKind.TIMER, instance_id="a", bookmark_seq=1, created=row.created)

    poller.take_own([later, timer])

    assert len(poller.in_hand) == 0


async def test_no_more_rows_are_claimed_than_fit_in_hand(memory: MemoryNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poller_module, "IN_HAND_MAX", 1)
    await resume_row(memory, "a")
    memory.components.poller.in_hand.add(("", "other"))

    assert await memory.components.poller.take_due() == 0


def failing(memory: MemoryNode, error: Exception) -> None:
    """Handlers of stimuli raise this error."""

    async def fail(row: WorkRow) -> None:
        raise error

    handlers: Any = memory.components.poller._handlers
    handlers[WorkKind.STIMULUS] = fail


async def stimulus_row(memory: MemoryNode, attempts: int = 0) -> WorkRow:
    row = WorkRow(id="s1", kind=WorkKind.STIMULUS, created=memory.clock.now(), attempts=attempts)
    await memory.store.enqueue([row])
    return row


async def take(memory: MemoryNode, row: WorkRow) -> None:
    memory.components.poller.take([row])
    await done(memory.components.poller, row)


async def stored(memory: MemoryNode, after: timedelta) -> list[WorkRow]:
    memory.clock.advance(after)
    async with memory.store.claim(["default"], 10) as claim:
        return list(claim.rows)


async def test_a_failed_row_is_counted_and_retried_later(memory: MemoryNode) -> None:
    failing(memory, HoldfastError("broken"))
    row = await stimulus_row(memory, attempts=1)

    await take(memory, row)

    assert await stored(memory, timedelta(0)) == []
    assert [item.attempts for item in await stored(memory, 2 * RETRY_PAUSE)] == [2]


async def test_the_last_attempt_buries_the_row(memory: MemoryNode) -> None:
    failing(memory, HoldfastError("broken"))
    row = await stimulus_row(memory, attempts=ATTEMPTS_MAX - 1)

    await take(memory, row)

    (letter,) = await memory.store.list_dead_letters("")
    assert (letter.reason, letter.work.attempts) == (dead_letters.ATTEMPTS, ATTEMPTS_MAX)
    assert await stored(memory, timedelta(days=1)) == []


@pytest.mark.parametrize(
    "error",
    [
        DefinitionError("There is no workflow 'order'."),
        CodeMissing("order", "'pack' is gone", content="c1"),
        StateUnreadable("i1", "gone", variable="item", type_name="shop:Item", content="c1"),
        UnknownValueType("shop:Item"),
    ],
)
async def test_work_that_this_process_cannot_run_is_parked(memory: MemoryNode, error: HoldfastError) -> None:
    failing(memory, error)
    row = await stimulus_row(memory, attempts=ATTEMPTS_MAX - 1)

    await take(memory, row)

    (found,) = await stored(memory, timedelta(days=1))
    assert found == replace(row, content=found.content)  # Nothing is counted, and it keeps its place in the queue.
    assert await memory.components.poller.take_due() == 0
    assert await memory.store.until_due(["default"], lacking=memory.components.plans.lacking) is None
    assert await memory.store.list_dead_letters("") == []
    (obstacle,) = memory.components.plans.obstacles.of("")
    assert obstacle.name == found.content


async def test_parked_work_runs_where_it_can(memory: MemoryNode) -> None:
    row = await resume_row(memory, "a")
    await memory.store.move_work(row, attempts=0, due=None, content="c1!item")

    assert await memory.components.poller.take_due() == 1

    assert (await memory.runtime.read("a")).status.at_rest
    assert memory.components.plans.obstacles.take_passed() == {("", "c1!item")}


async def test_a_refused_payload_is_buried_at_once(memory: MemoryNode) -> None:
    failing(memory, PayloadRefused("go", [], instance_id="i", bookmark_id="b1"))

    await take(memory, await stimulus_row(memory))

    assert [item.reason for item in await memory.store.list_dead_letters("")] == [dead_letters.REFUSED]


async def test_an_outage_leaves_the_row_as_it_is(memory: MemoryNode) -> None:
    failing(memory, StoreUnavailable("The store does not answer."))
    row = await stimulus_row(memory)

    await take(memory, row)

    assert await stored(memory, timedelta(0)) == [row]


async def test_the_instance_of_a_claimed_start_is_in_hand_before_its_claim_ends(
    memory: MemoryNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller that settles the child of its instance waits for it, also in the moment in which the claim has the start row."""
    parts, seen = memory.components, list[bool]()
    row = work_rows.application_start(
        "",
        "child",
        "waits",
        {},
        types=TypeRegistry(),
        content="",
        correlation_id=None,
        name=None,
        now=memory.clock.now(),
    )
    await memory.runtime.definitions.deploy(waiting)
    await memory.store.enqueue([row])
    run = parts.poller._runner.run

    async def observed(*given: Any) -> None:
        seen.append(parts.in_hand.has(memory.runtime.key("child")))
        await run(*given)

    monkeypatch.setattr(parts.poller._runner, "run", observed)
    await parts.poller.take_due()

    assert seen == [True]
    assert (await memory.runtime.settle("child")).status is Status.SUSPENDED


async def test_rows_of_a_claim_that_fails_may_be_claimed_again(
    memory: MemoryNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = memory.components
    row = work_rows.application_start(
        "",
        "child",
        "waits",
        {},
        types=TypeRegistry(),
        content="",
        correlation_id=None,
        name=None,
        now=memory.clock.now(),
    )
    await memory.store.enqueue([row])

    async def fails(*_: Any) -> None:
        raise StoreUnavailable("The connection was lost.")

    monkeypatch.setattr(parts.poller._runner, "run", fails)
    with pytest.raises(StoreUnavailable):
        await parts.poller.take_due()

    assert row_key(row) not in parts.poller.in_hand
    assert not parts.in_hand.has(memory.runtime.key("child"))
