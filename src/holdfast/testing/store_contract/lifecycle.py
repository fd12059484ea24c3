"""Contract of opening and closing: closing loses no pending commit, and a store can be opened again."""

from __future__ import annotations

import asyncio

from holdfast.model.commit import COMMITTED
from holdfast.model.stored import InstanceKey
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed, stored
from holdfast.testing.store_rows import commit_of, instance


class LifecycleContract(ContractBase):
    async def test_opening_and_closing_twice_does_no_harm(self, another: Store, tenant: str) -> None:
        await committed(another, commit_of(instance("i", tenant=tenant)))

        await another.open()
        await another.close()
        await another.close()
        await another.open()

        assert await stored(another, tenant, "i") is not None

    async def test_close_finishes_what_was_asked(self, store: Store, another: Store, tenant: str) -> None:
        bursts = [commit_of(instance(f"i{number}", tenant=tenant)) for number in range(50)]
        commits = [asyncio.create_task(another.commit([burst])) for burst in bursts]
        await asyncio.sleep(0)

        await another.close()

        assert all([list(await commit) == [COMMITTED] for commit in commits])
        keys = [InstanceKey(tenant, f"i{number}") for number in range(50)]
        assert await store.versions_of(keys) == dict.fromkeys(keys, 1)
