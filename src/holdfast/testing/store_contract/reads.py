"""Contract of reads by key: instances, and bookmarks by stimulus."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.model.stored import BookmarkQuery, BookmarkRow, InstanceKey, correlation_key, wake_key
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed
from holdfast.testing.store_rows import bookmark, commit_of, instance, later

PAID = wake_key("Paid")


class ReadContract(ContractBase):
    async def test_load_returns_existing_instances(self, store: Store, tenant: str) -> None:
        rows = [instance(name, tenant=tenant) for name in ("a", "b", "c")]
        await committed(store, *(commit_of(row) for row in rows))
        keys = [InstanceKey(tenant, name) for name in ("c", "unknown", "a", "a")]

        loaded = await store.load(keys)

        assert loaded.instances == {keys[0]: rows[2], keys[2]: rows[0]}
        assert loaded.epoch == await store.epoch()
        assert await store.versions_of(keys) == {keys[0]: 1, keys[2]: 1}
        assert (await store.load([])).instances == {}

    async def test_a_stimulus_finds_the_oldest_bookmark(self, store: Store, tenant: str) -> None:
        marks = [
            bookmark(tenant, "a", created=later(3)),
            bookmark(tenant, "b", created=later(1)),
            bookmark(tenant, "c", created=later(2)),
            bookmark(tenant, "c", 2, "Other", created=later(0)),
        ]
        await self._sleep(store, tenant, marks)

        found = await store.find_bookmarks(
            [
                BookmarkQuery(tenant=tenant, key=PAID),
                BookmarkQuery(tenant=tenant, key=wake_key("Nothing")),
                BookmarkQuery(tenant=tenant, key=PAID, limit=10),
            ]
        )

        assert [[row.instance_id for row in rows] for rows in found.bookmarks] == [["b"], [], ["b", "c", "a"]]
        assert found.epoch == await store.epoch()

    async def test_a_stimulus_with_a_correlation_finds_only_its_own(self, store: Store, tenant: str) -> None:
        """M5: many instances wait for one event type and are addressed by correlation id."""
        marks = [
            bookmark(tenant, f"i{number}", correlation=correlation_key(f"order-{number}"), created=later(number))
            for number in range(50)
        ]
        await self._sleep(store, tenant, [*marks, bookmark(tenant, "none", created=later(99))])

        found = await store.find_bookmarks(
            [BookmarkQuery(tenant=tenant, key=PAID, correlation=correlation_key("order-33"), limit=5)]
        )
        every = await store.find_bookmarks([BookmarkQuery(tenant=tenant, key=PAID, limit=100)])

        assert [row.instance_id for row in found.bookmarks[0]] == ["i33"]
        assert len(every.bookmarks[0]) == 51

    async def test_a_broadcast_pages_through_all_in_order_of_instances(self, store: Store, tenant: str) -> None:
        """M6: each page in order of instance id, from the cursor of the previous page."""
        marks = [
            bookmark(tenant, f"i{number % 5}", number, correlation=number, created=later(-number))
            for number in range(1, 13)
        ]
        await self._sleep(store, tenant, marks)
        seen, after = [], ("", 0)

        for _ in range(4):
            query = BookmarkQuery(tenant=tenant, key=PAID, limit=5, oldest=False, after=after)
            page = (await store.find_bookmarks([query])).bookmarks[0]
            seen += [(row.instance_id, row.seq) for row in page]
            after = seen[-1]

        assert seen == sorted((mark.instance_id, mark.seq) for mark in marks)

    async def test_keys_over_all_of_64_bits(self, store: Store, tenant: str) -> None:
        marks = [
            replace(bookmark(tenant, "i", seq), key=key, correlation=key or 1)
            for seq, key in enumerate((-(2**63), -1, 0, 2**63 - 1))
        ]
        await self._sleep(store, tenant, marks)

        found = await store.find_bookmarks(
            [BookmarkQuery(tenant=tenant, key=mark.key, correlation=mark.correlation) for mark in marks]
        )

        assert [rows[0] for rows in found.bookmarks] == marks

    async def test_ids_of_all_letters_are_told_apart(self, store: Store, tenant: str) -> None:
        """Case and trailing characters count, regardless of the database's collation (Y1)."""
        names = ["Order-1", "order-1", "ORDER-1", "Order-1.", "Order-1:", "Order_1"]

        await committed(store, *(commit_of(instance(name, tenant=tenant, name=name)) for name in names))

        found = await store.load([InstanceKey(tenant, name) for name in names])
        assert {key.id: row.name for key, row in found.instances.items()} == {name: name for name in names}

    async def _sleep(self, store: Store, tenant: str, marks: list[BookmarkRow]) -> None:
        names = dict.fromkeys(mark.instance_id for mark in marks)
        await committed(
            store,
            *(
                commit_of(
                    instance(name, tenant=tenant),
                    bookmarks_added=tuple(mark for mark in marks if mark.instance_id == name),
                )
                for name in names
            ),
        )
