"""Contract of effects: ownership, and takeover after the owner's death."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from msgspec.structs import replace

from holdfast.model.work import NO_OWNER, EffectRef, EffectRow, Owner
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed
from holdfast.testing.store_rows import FAR_OFF, commit_of, effect, instance, later

ALIVE = timedelta(hours=1)
DEAD = timedelta(0)
"""A time to live that expires at once."""


class EffectContract(ContractBase):
    async def test_an_effect_on_a_queue_is_taken_once(self, store: Store, another: Store, tenant: str) -> None:
        """64 workers get the same ticket; exactly one owns the effect."""
        row = effect(tenant, "i", queue="gpu")
        await self._recorded(store, row)

        taken = await asyncio.gather(
            *(
                (store, another)[number % 2].own_effect(tenant, "i", row.ref, Owner(f"n{number}", number))
                for number in range(1, 65)
            )
        )

        owned = [one for one in taken if one is not None]
        assert len(owned) == 1
        assert await store.effects_of(tenant, "i") == owned
        assert owned[0] == replace(row, owner=owned[0].owner)
        assert await store.effects_owned(owned[0].owner) == owned

    async def test_an_effect_that_is_gone_or_other_is_not_taken(self, store: Store, tenant: str) -> None:
        row = effect(tenant, "i", attempt=2)
        await self._recorded(store, row)

        assert await store.own_effect(tenant, "i", row.ref._replace(attempt=1), Owner("n", 1)) is None
        assert await store.own_effect(tenant, "i", row.ref._replace(execution=9), Owner("n", 1)) is None
        assert await store.own_effect(tenant, "other", row.ref, Owner("n", 1)) is None
        assert await store.effects_of(tenant, "i") == [row]

    async def test_effects_of_a_dead_node_are_given_away_once(self, store: Store, another: Store, tenant: str) -> None:
        """Two reapers produce one new attempt."""
        dead = (await store.register_node("dead", time_to_live=DEAD)).node.owner
        alive = (await store.register_node("alive", time_to_live=ALIVE)).node.owner
        rows = [
            effect(tenant, "i", 1, owner=dead),
            effect(tenant, "i", 2, owner=alive),
            effect(tenant, "i", 3, owner=Owner("never seen", 1)),
            effect(tenant, "i", 4, owner=NO_OWNER),
            effect(tenant, "i", 5, owner=alive._replace(boot=alive.boot - 1)),
        ]
        await self._recorded(store, *rows)

        lost = await store.lost_effects(tenant, 100)
        pages = [await store.lost_effects(tenant, 2), await store.lost_effects(tenant, 2, ("i", 3))]
        moved = await asyncio.gather(
            *(
                handle.move_effect(tenant, "i", rows[0].ref, EffectRef(1, 2, alive))
                for handle in (store, another, store, another)
            )
        )

        assert sorted(row.execution for row in lost) == [1, 3, 5]
        assert [[row.execution for row in page] for page in pages] == [[1, 3], [5]]
        assert list(await store.lost_effects("another", 100)) == []
        assert [row for row in moved if row is not None] == [replace(rows[0], attempt=2, owner=alive)]
        assert sorted(row.execution for row in await store.effects_owned(alive)) == [1, 2]

    async def test_a_node_that_left_owns_nothing_any_more(self, store: Store, tenant: str) -> None:
        node = (await store.register_node("n", time_to_live=ALIVE)).node
        await self._recorded(store, effect(tenant, "i", owner=node.owner))
        before = list(await store.lost_effects(tenant, 100))

        await store.leave(node.owner)

        assert (before, len(await store.lost_effects(tenant, 100))) == ([], 1)

    async def test_a_node_that_restarts_has_lost_its_effects(self, store: Store, tenant: str) -> None:
        first = (await store.register_node("n", time_to_live=ALIVE)).node
        await self._recorded(store, effect(tenant, "i", owner=first.owner))

        await store.register_node("n", time_to_live=ALIVE)

        assert [row.owner for row in await store.lost_effects(tenant, 100)] == [first.owner]

    async def test_unclaimed_effects_are_found(self, store: Store, tenant: str) -> None:
        """The broker lost the ticket."""
        waits, owned = effect(tenant, "i", 1, queue="q"), effect(tenant, "i", 2, owner=Owner("n", 1))
        young = effect(tenant, "i", 3, queue="q", created=FAR_OFF)
        await self._recorded(store, waits, owned, young)

        assert await store.waiting_effects(tenant, later(100), 10) == [waits]
        assert list(await store.waiting_effects(tenant, later(100), 10, ("i", 1))) == []
        assert list(await store.waiting_effects("another", later(100), 10)) == []

    async def _recorded(self, store: Store, *rows: EffectRow) -> None:
        row = instance("i", tenant=rows[0].tenant)
        await committed(store, commit_of(row, effects_added=tuple(rows)))

    async def test_a_cancel_drops_effects_of_any_owner(self, store: Store, tenant: str) -> None:
        rows = (effect(tenant, "i", 1, owner=Owner("n1", 1)), effect(tenant, "i", 2))
        await committed(store, commit_of(instance("i", tenant=tenant), effects_added=rows))

        await committed(store, commit_of(instance("i", 2, tenant=tenant), effects_dropped=(1, 2, 3)))

        assert list(await store.effects_of(tenant, "i")) == []

    async def test_a_canceled_effect_keeps_its_row_until_its_end(self, store: Store, tenant: str) -> None:
        """M1: owner and attempt stay, a takeover is still possible, and the commit of the end consumes the row."""
        rows = tuple(effect(tenant, "i", number, owner=Owner("n1", 1)) for number in (1, 2, 3))
        other = effect(tenant, "j", 1)
        await committed(store, commit_of(instance("i", tenant=tenant), effects_added=rows))
        await committed(store, commit_of(instance("j", tenant=tenant), effects_added=(other,)))

        await committed(
            store,
            commit_of(
                instance("i", 2, tenant=tenant),
                effects_consumed=(rows[2].ref,),
                effects_canceled=(1, 2, 9),
                effects_added=(effect(tenant, "i", 4),),
            ),
            commit_of(instance("j", 2, tenant=tenant), effects_canceled=(1,)),
        )

        found = await store.effects_of(tenant, "i")
        assert [(row.ref, row.canceled) for row in found] == [
            (rows[0].ref, True), (rows[1].ref, True), (EffectRef(4, 1, NO_OWNER), False),
        ]  # fmt: skip
        assert [row.canceled for row in await store.effects_of(tenant, "j")] == [True]
        moved = await store.move_effect(tenant, "i", rows[0].ref, EffectRef(1, 2, Owner("n2", 1)))
        assert moved is not None
        assert moved.canceled
        ends = (moved.ref, rows[1].ref)
        await committed(store, commit_of(instance("i", 3, tenant=tenant), effects_consumed=ends))
        assert [row.execution for row in await store.effects_of(tenant, "i")] == [4]
