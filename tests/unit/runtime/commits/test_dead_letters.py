"""Dead letters: the work row and its letter change places in one commit, or nothing changes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from holdfast.model.values import TypeRegistry
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.commits.dead_letters import ATTEMPTS, REFUSED, DeadLetters, letter
from holdfast.runtime.membership import Membership
from holdfast.runtime.payload_codec import decode_payload
from holdfast.testing.store_rows import AT, settlement, stimulus, work

TYPES = TypeRegistry()


async def letters_of(store: MemoryStore) -> DeadLetters:
    membership = Membership("n")
    membership.join(await store.register_node("n", time_to_live=timedelta(minutes=1)), lambda: 1_000_000)
    return DeadLetters(store, membership)


def tables(store: MemoryStore) -> Any:
    return store._tables


def test_a_letter_keeps_the_row_unchanged_and_the_message_as_data() -> None:
    row = work("", attempts=7)
    found = letter(row, ATTEMPTS, AT, "It failed 7 times.")

    assert (found.work, found.reason, found.died) == (row, ATTEMPTS, AT)
    assert decode_payload(found.error, TYPES) == {"message": "It failed 7 times."}


async def test_the_letter_replaces_the_work_row() -> None:
    store, row = MemoryStore(), work("")
    letters = await letters_of(store)
    await store.commit([settlement("", work_added=(row,))])

    assert await letters.bury(row, ATTEMPTS, "It failed.")
    assert tables(store).work == {}
    assert [item.work for item in tables(store).dead_letters.values()] == [row]


async def test_work_that_another_node_has_done_gets_no_letter() -> None:
    store = MemoryStore()
    letters = await letters_of(store)

    assert not await letters.bury(work(""), ATTEMPTS, "It failed.")
    assert tables(store).dead_letters == {}


async def test_inbox_rows_are_consumed_instead_of_the_work_row_that_would_restore_them() -> None:
    store, kept, row = MemoryStore(), stimulus(""), work("")
    letters = await letters_of(store)
    await store.commit([settlement("", inbox_added=(kept,))])

    assert await letters.bury(row, REFUSED, "The payload has no amount.", inbox=(kept.id,))
    assert tables(store).inbox == {}
    assert [item.reason for item in tables(store).dead_letters.values()] == [REFUSED]
    assert not await letters.bury(row, REFUSED, "The payload has no amount.", inbox=(kept.id,))
