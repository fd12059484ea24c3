"""Contract of the node registry: boots, workers, heartbeats and departures."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from holdfast.model.cluster import NodeState
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed
from holdfast.testing.store_rows import FAR_OFF, commit_of, effect, instance

ALIVE = timedelta(hours=1)
DEAD = timedelta(0)


class NodeContract(ContractBase):
    async def test_a_node_registers(self, store: Store) -> None:
        registered = await store.register_node("n", time_to_live=ALIVE, details=b"host")

        node = registered.node
        assert not registered.predecessor_died
        assert (node.id, node.state, node.details, node.time_to_live) == ("n", NodeState.LIVE, b"host", ALIVE)
        assert node.alive_at(await store.now())
        assert await store.list_nodes() == [node]

    async def test_every_life_has_a_boot_number_of_its_own(self, store: Store, another: Store) -> None:
        lives = [
            (await handle.register_node(name, time_to_live=ALIVE)).node.boot
            for name in ("a", "b", "a")
            for handle in (store, another)
        ]

        await store.forget_nodes(FAR_OFF)
        last = (await store.register_node("a", time_to_live=ALIVE)).node.boot

        assert len({*lives, last}) == 7
        assert last > max(lives)

    async def test_live_nodes_have_different_workers(self, store: Store, another: Store) -> None:
        nodes = await asyncio.gather(
            *((store, another)[number % 2].register_node(f"n{number}", time_to_live=ALIVE) for number in range(10))
        )

        assert len({one.node.worker for one in nodes}) == len({one.node.boot for one in nodes}) == 10
        assert all(0 <= one.node.worker < 1024 for one in nodes)

    async def test_an_unclean_end_of_a_predecessor_is_reported(self, store: Store) -> None:
        first = await store.register_node("n", time_to_live=ALIVE)
        second = await store.register_node("n", time_to_live=ALIVE)
        await store.leave(second.node.owner)
        third = await store.register_node("n", time_to_live=ALIVE)

        assert [one.predecessor_died for one in (first, second, third)] == [False, True, False]

    async def test_a_heartbeat_renews(self, store: Store) -> None:
        node = (await store.register_node("n", time_to_live=ALIVE)).node

        assert await store.beat(node.owner, NodeState.DRAINING)

        (renewed,) = await store.list_nodes()
        assert renewed.heartbeat >= node.heartbeat
        assert renewed.state is NodeState.DRAINING
        assert renewed.alive_at(await store.now())

    async def test_the_heartbeat_of_an_earlier_boot_is_refused(self, store: Store) -> None:
        first = (await store.register_node("n", time_to_live=ALIVE)).node
        second = (await store.register_node("n", time_to_live=ALIVE)).node

        assert not await store.beat(first.owner)
        await store.leave(first.owner)

        assert await store.beat(second.owner)
        assert not await store.beat(second.owner._replace(node="unknown"))

    async def test_a_node_that_left_or_fell_silent_is_not_alive(self, store: Store) -> None:
        left = (await store.register_node("left", time_to_live=ALIVE)).node
        await store.register_node("silent", time_to_live=DEAD)
        await store.register_node("well", time_to_live=ALIVE)

        await store.leave(left.owner)

        now = await store.now()
        assert [(node.id, node.alive_at(now)) for node in await store.list_nodes()] == [
            ("left", False),
            ("silent", False),
            ("well", True),
        ]

    async def test_silent_nodes_are_forgotten_unless_they_own_effects(self, store: Store, tenant: str) -> None:
        await store.register_node("silent", time_to_live=DEAD)
        owner = (await store.register_node("owns", time_to_live=DEAD)).node.owner
        await store.register_node("well", time_to_live=ALIVE)
        await committed(
            store, commit_of(instance("i", tenant=tenant), effects_added=(effect(tenant, "i", owner=owner),))
        )

        assert await store.forget_nodes(await store.now() - ALIVE) == 0
        assert await store.forget_nodes(FAR_OFF) == 1

        assert [node.id for node in await store.list_nodes()] == ["owns", "well"]
