"""Contract of records: written by version or with a commit, listed latest first."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from holdfast.errors import BatchRefused
from holdfast.model.record_rows import RecordQuery, RecordRow
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed, loss_of
from holdfast.testing.store_rows import FAR_OFF, commit_of, instance, later, record, settlement, work


class RecordContract(ContractBase):
    async def test_a_record_is_read_as_it_was_written(self, store: Store, another: Store, tenant: str) -> None:
        row = record(tenant, "r", instance_id="i", owner="user:ann", state="open", due=FAR_OFF, payload=b"\x00\xff")

        assert await store.put_record(row)

        assert await another.get_record(tenant, "task", "r") == row
        assert await store.get_record(tenant, "user", "r") is None
        assert await store.get_record(tenant, "task", "R") is None
        assert await store.get_record(tenant + "x", "task", "r") is None

    async def test_work_is_put_with_its_record_or_not_at_all(self, store: Store, another: Store, tenant: str) -> None:
        """A request's key and its work commit or fail together (M4)."""
        first = record(tenant, "r")

        assert await store.put_record(first, [work(tenant, id="a"), work(tenant, id="b", due=FAR_OFF)])
        assert not await another.put_record(first, [work(tenant, id="c")])
        assert await another.put_record(replace(first, version=2), [work(tenant, id="a"), work(tenant, id="d")])

        figures = await store.stats(tenant)
        assert (figures.work_ready, figures.work_later) == (2, 1)
        async with store.claim(["default"], 10) as claim:
            assert sorted(row.id for row in claim.rows) == ["a", "d"]

    async def test_a_version_is_written_once(self, store: Store, another: Store, tenant: str) -> None:
        """64 writers of the first version, then 64 writers of the second: one of each succeeds."""
        for version in (1, 2):
            answers = await asyncio.gather(
                *(
                    (store, another)[number % 2].put_record(
                        record(tenant, "r", version=version, owner=f"n{number}", updated=later(number))
                    )
                    for number in range(64)
                )
            )
            winner = f"n{answers.index(True)}"
            stored = await store.get_record(tenant, "task", "r")
            assert answers.count(True) == 1
            assert stored is not None
            assert (stored.version, stored.owner) == (version, winner)

    async def test_a_version_out_of_turn_is_refused(self, store: Store, tenant: str) -> None:
        row = record(tenant, "r")

        assert not await store.put_record(replace(row, version=2))
        assert await store.put_record(row)
        assert not await store.put_record(row)
        assert not await store.put_record(replace(row, version=3))
        assert await store.put_record(replace(row, version=2, state="claimed", due=None, created=later(99)))
        assert await store.get_record(tenant, "task", "r") == replace(row, version=2, state="claimed")

    async def test_a_record_goes_with_its_commit(self, store: Store, tenant: str) -> None:
        row = record(tenant, "r", instance_id="i")
        await committed(store, commit_of(instance("i", tenant=tenant), records=(row, record(tenant, "s"))))
        assert await store.put_record(replace(row, version=2, state="claimed"))

        closed = replace(row, state="completed", version=77, updated=later(9), created=later(9))
        await committed(store, commit_of(instance("i", 2, tenant=tenant), records=(closed,)))

        assert await store.get_record(tenant, "task", "r") == replace(closed, version=3, created=row.created)

    async def test_a_commit_that_loses_writes_no_record(self, store: Store, tenant: str) -> None:
        await committed(store, commit_of(instance("i", tenant=tenant)))

        await loss_of(store, commit_of(instance("i", 3, tenant=tenant), records=(record(tenant, "r"),)))
        await loss_of(store, settlement(tenant, work_consumed=("gone",), records=(record(tenant, "r"),)))

        assert await store.get_record(tenant, "task", "r") is None

    async def test_commits_of_a_batch_may_write_the_same_record(self, store: Store, tenant: str) -> None:
        rows = [record(tenant, "r", owner=name) for name in ("a", "b")]

        await committed(
            store,
            commit_of(instance("i", tenant=tenant), records=(rows[0],)),
            settlement(tenant, records=(rows[1],)),
        )

        stored = await store.get_record(tenant, "task", "r")
        assert stored is not None
        assert stored.version == 2

    async def test_a_commit_that_writes_a_record_twice_is_refused(self, store: Store, tenant: str) -> None:
        row = record(tenant, "r")

        with pytest.raises(BatchRefused, match="'r' twice"):
            await store.commit([settlement(tenant, records=(row, replace(row, state="closed")))])

    async def test_lists_come_latest_first_in_pages(self, store: Store, tenant: str) -> None:
        times = {"a": 1, "b": 3, "d": 2, "c": 2, "e": 0}
        for name, at in times.items():
            await store.put_record(record(tenant, name, created=later(at)))
        await store.put_record(record(tenant, "u", kind="user"))
        await store.put_record(record(tenant + "x", "x"))
        query = RecordQuery(tenant=tenant, kind="task", limit=2)
        seen: list[RecordRow] = []

        while page := await store.list_records(replace(query, after=seen[-1].cursor if seen else "")):
            seen += page

        assert [row.id for row in seen] == ["b", "c", "d", "a", "e"]
        assert await store.count_records(query) == 5

    async def test_lists_are_filtered(self, store: Store, tenant: str) -> None:
        rows = [
            record(tenant, "a", owner="ann", state="open", due=later(10)),
            record(tenant, "b", owner="bob", state="open", instance_id="i"),
            record(tenant, "c", owner="bob", state="done", due=later(20)),
        ]
        for row in rows:
            await store.put_record(row)
        query = RecordQuery(tenant=tenant, kind="task")

        async def names(asked: RecordQuery) -> str:
            found = "".join(row.id for row in await store.list_records(asked))
            assert await store.count_records(asked) == len(found)
            return found

        assert await names(query) == "abc"
        assert await names(replace(query, owners=("bob",))) == "bc"
        assert await names(replace(query, owners=("bob", "ann"), states=("open",))) == "ab"
        assert await names(replace(query, instance_id="i")) == "b"
        assert await names(replace(query, due_before=later(20))) == "a"
        assert await names(replace(query, owners=("unknown",))) == ""

    async def test_a_record_is_deleted_once(self, store: Store, tenant: str) -> None:
        await store.put_record(record(tenant, "r"))

        assert not await store.delete_record(tenant, "user", "r")
        assert await store.delete_record(tenant, "task", "r")
        assert not await store.delete_record(tenant, "task", "r")
        assert await store.put_record(record(tenant, "r"))
