"""Records of expired stimuli: written, listed latest first, and removed after their retention."""

from __future__ import annotations

from datetime import timedelta

from holdfast.model import values
from holdfast.model.record_rows import RecordRow
from holdfast.model.work import InboxRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli.inbox_expiry import EXPIRED, RECEIPT, RETENTION, InboxExpiry
from holdfast.testing.clock import VirtualClock


def kept(clock: VirtualClock, name: str, **more: object) -> InboxRow:
    found = Stimulus(id=name, type="Event", event_name="go", key=values.encode("order-1"))
    return InboxRow(tenant="acme", id=name, key=1, type="Event", arrived=clock.now(), payload=work_rows.encoded(found))


async def test_an_expired_stimulus_is_listed_with_its_address() -> None:
    clock = VirtualClock(jump=False)
    store = MemoryStore(now=clock.now)
    expiry = InboxExpiry(store, clock)
    row = kept(clock, "s1")
    clock.advance(timedelta(hours=24))

    assert (await expiry.record(row)).id == "s1"

    (found,) = await expiry.list("acme")
    assert (found.id, found.type, found.event_name, found.key) == ("s1", "Event", "go", "order-1")
    assert found.expired - found.arrived == timedelta(hours=24)
    assert await expiry.list("globex") == []


async def test_the_latest_come_first_within_the_limit() -> None:
    clock = VirtualClock(jump=False)
    expiry = InboxExpiry(MemoryStore(now=clock.now), clock)
    for name in ("s1", "s2", "s3"):
        await expiry.record(kept(clock, name))
        clock.advance(timedelta(seconds=1))

    assert [found.id for found in await expiry.list("acme", limit=2)] == ["s3", "s2"]


async def test_records_and_receipts_are_removed_after_their_retention() -> None:
    clock = VirtualClock(jump=False)
    store = MemoryStore(now=clock.now)
    expiry = InboxExpiry(store, clock)
    await expiry.record(kept(clock, "s1"))
    now = clock.now()
    await store.put_record(
        RecordRow(tenant="acme", kind=RECEIPT, id="r1", due=now + RETENTION, created=now, updated=now)
    )
    clock.advance(RETENTION - timedelta(seconds=1))
    assert await expiry.remove_old("acme") == 0

    clock.advance(timedelta(seconds=2))

    assert await expiry.remove_old("globex") == 0
    assert await expiry.remove_old("acme") == 2
    assert await store.get_record("acme", EXPIRED, "s1") is None
    assert await store.get_record("acme", RECEIPT, "r1") is None


async def test_an_expired_stimulus_is_replayed_once_under_a_new_id() -> None:
    clock = VirtualClock(jump=False)
    store = MemoryStore(now=clock.now)
    expiry = InboxExpiry(store, clock)
    await expiry.record(kept(clock, "s1"))

    (row,) = await expiry.replay("acme", ["s1", "s1", "unknown"])

    found = work_rows.read_stimulus(row)
    assert (row.id, found.id, found.event_name, row.queue) == ("s1.r1", "s1.r1", "go", "default@acme")
    assert list(await store.queues_with_work()) == ["default@acme"]
    assert await expiry.list("acme") == []
    assert await expiry.replay("acme", ["s1"]) == []
    assert await expiry.replay("globex", ["s1"]) == []
