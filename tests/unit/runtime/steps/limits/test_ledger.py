"""The ledger of cluster-wide limits: entries at a time, and compare-and-set of their records."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.model.record_rows import RecordRow
from holdfast.model.work import InboxRow, WorkRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.steps.limits import ledger
from holdfast.runtime.steps.limits.ledger import KIND, Ledger, LedgerEntry, full_entry
from holdfast.runtime.steps.limits.spec import Limit
from holdfast.testing.store_rows import AT, later


def test_places_of_dead_nodes_are_free() -> None:
    entry = LedgerEntry(held={"a.1": 2, "b.1": 3}, tokens=1.0, filled=AT)

    assert entry.at(AT, {"b.1"}, Limit(concurrency=5)).held == {"b.1": 3}
    assert entry.held_by_others("a.1") == {"b.1": 3}


def test_tokens_fill_up_to_one_second() -> None:
    limit, entry = Limit(per_second=4.0), LedgerEntry(tokens=0.0, filled=AT)

    assert entry.at(later(0.5), set(), limit).tokens == 2.0
    assert entry.at(later(60), set(), limit).tokens == 4.0
    assert entry.at(AT - timedelta(seconds=5), set(), limit).tokens == 0.0
    assert full_entry(limit, AT).tokens == 4.0


async def ledger_on(store: MemoryStore, name: str = "a") -> Ledger:
    membership = Membership(name)
    membership.join(await store.register_node(name, time_to_live=timedelta(seconds=30)), lambda: 0)
    return Ledger(store, membership, OutageLog(name), "acme")


def add_one(payload: bytes | None, now: datetime, alive: set[str]) -> tuple[bytes | None, int]:
    count = int(payload or b"0") + 1
    return str(count).encode(), count


async def test_a_record_is_created_and_changed() -> None:
    store = MemoryStore()
    made = await ledger_on(store)

    assert [await made.update("mail", add_one, "the limit") for _ in range(2)] == [1, 2]

    row = await store.get_record("acme", KIND, "mail")
    assert row is not None
    assert (row.payload, row.version) == (b"2", 2)


async def test_an_answer_without_a_change_writes_nothing() -> None:
    store = MemoryStore()
    made = await ledger_on(store)

    assert await made.update("mail", lambda payload, now, alive: (None, sorted(alive)), "the limit") == [made.holder]
    assert await store.get_record("acme", KIND, "mail") is None


class Contested(MemoryStore):
    """Another node changes a record first, so many times."""

    wins = 0

    async def put_record(self, row: RecordRow, work: Sequence[WorkRow] = (), inbox: Sequence[InboxRow] = ()) -> bool:
        if self.wins:
            self.wins -= 1
            found = await self.get_record(row.tenant, row.kind, row.id)
            other = RecordRow(
                tenant=row.tenant,
                kind=row.kind,
                id=row.id,
                created=AT,
                updated=AT,
                payload=b"10",
                version=1 if found is None else found.version + 1,
            )
            await super().put_record(other)
        return await super().put_record(row, work)


async def test_a_lost_compare_and_set_is_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "CONFLICT_JITTER_SECONDS", 0.0)
    store = Contested()
    made = await ledger_on(store)
    store.wins = 2

    assert await made.update("mail", add_one, "the limit") == 11


async def test_a_record_that_others_always_win_gives_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "CONFLICT_JITTER_SECONDS", 0.0)
    store = Contested()
    made = await ledger_on(store)
    store.wins = 1_000

    assert await made.update("mail", add_one, "the limit") is None
    assert store.wins == 1_000 - ledger.UPDATE_ATTEMPTS_MAX


async def test_an_unavailable_store_gives_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    made = await ledger_on(store)

    async def away(*given: object) -> None:
        raise StoreUnavailable("The store does not answer.")

    monkeypatch.setattr(store, "get_record", away)

    assert await made.update("mail", add_one, "the limit") is None
