"""The identity of a node: no ids before registration, the boot and worker number of the store afterwards."""

from __future__ import annotations

from datetime import timedelta

import pytest

from holdfast.errors import StoreError
from holdfast.model.work import Owner
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.membership import Membership


def test_a_node_that_is_not_registered_makes_no_ids() -> None:
    membership = Membership("n")

    assert membership.owner == Owner("n", 0)
    with pytest.raises(StoreError, match="'n' is not registered"):
        membership.next_id()


async def test_registration_sets_owner_and_ids() -> None:
    store, membership = MemoryStore(), Membership("n")
    await store.register_node("other", time_to_live=timedelta(minutes=1))
    membership.join(await store.register_node("n", time_to_live=timedelta(minutes=1)), lambda: 1_000_000)

    assert membership.owner == Owner("n", 2)
    first, second = membership.next_id(), membership.next_id()
    assert first < second


async def test_two_nodes_make_different_ids_at_the_same_moment() -> None:
    store, ids = MemoryStore(), set()
    for name in ("a", "b"):
        membership = Membership(name)
        membership.join(await store.register_node(name, time_to_live=timedelta(minutes=1)), lambda: 1_000_000)
        ids.add(membership.next_id())

    assert len(ids) == 2


async def test_a_later_boot_is_another_owner() -> None:
    store, boots = MemoryStore(), []
    for _ in range(2):
        membership = Membership("n")
        membership.join(await store.register_node("n", time_to_live=timedelta(minutes=1)), lambda: 1_000_000)
        boots.append(membership.owner)

    assert boots == [Owner("n", 1), Owner("n", 2)]
