"""Contract of the pulse: the answers to the periodic questions of a node."""

from __future__ import annotations

from datetime import timedelta

from holdfast.model.stored import InstanceKey
from holdfast.model.work import NO_OWNER, OutboxRow, Owner, ScheduleRow
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed
from holdfast.testing.store_rows import AT, commit_of, effect, instance, later, stimulus, work

ALIVE, DEAD = timedelta(hours=1), timedelta(0)
STRANGER = Owner("stranger", 1)


class PulseContract(ContractBase):
    async def test_the_pulse_of_an_empty_store(self, store: Store) -> None:
        node = (await store.register_node("n", time_to_live=ALIVE, details=b"host")).node

        pulse = await store.pulse(node.owner, ["a", "b"])

        assert abs(pulse.now - await store.now()) < timedelta(minutes=1)
        assert (pulse.epoch, list(pulse.nodes), pulse.until_due) == (await store.epoch(), [node], {})
        assert pulse.next_schedule is None
        assert (pulse.has_lost_effects, pulse.has_waiting_effects, pulse.has_own_effects) == (False, False, False)
        assert (pulse.has_inbox, pulse.has_outbox) == (False, False)

    async def test_the_pulse_tells_when_each_queue_is_due(self, store: Store, tenant: str) -> None:
        now = await store.now()
        await store.enqueue(
            [
                work(tenant, queue="soon", due=now + timedelta(hours=1)),
                work(tenant, queue="soon", due=now + timedelta(hours=2)),
                work(tenant, queue="now"),
                work(tenant, queue="now", due=now + timedelta(hours=1)),
                work(tenant, queue="overdue", due=now - timedelta(hours=1)),
                work(tenant, queue="of others"),
            ]
        )

        due = (await store.pulse(STRANGER, ["soon", "now", "overdue", "empty"])).until_due

        assert due.keys() == {"soon", "now", "overdue"}
        assert timedelta(minutes=50) < due["soon"] <= timedelta(hours=1)
        assert due["now"] <= timedelta(0)
        assert due["overdue"] <= timedelta(0)

    async def test_the_pulse_tells_the_first_schedule(self, store: Store, tenant: str) -> None:
        rows = [
            ScheduleRow(tenant=tenant, id=str(hours), definition_id="d", due=later(hours), payload=b"")
            for hours in (20, 10, 30)
        ]
        await store.put_schedules(tenant, "d", rows)

        assert (await store.pulse(STRANGER, [])).next_schedule == later(10)

    async def test_the_pulse_tells_effects_by_the_life_of_their_owner(self, store: Store, tenant: str) -> None:
        mine = (await store.register_node("mine", time_to_live=ALIVE)).node.owner
        other = (await store.register_node("other", time_to_live=ALIVE)).node.owner
        key = InstanceKey(tenant, "i")
        await committed(store, commit_of(instance("i", tenant=tenant), effects_added=(effect(*key, owner=other),)))

        async def seen() -> tuple[bool, bool, bool]:
            pulse = await store.pulse(mine, [])
            return pulse.has_own_effects, pulse.has_waiting_effects, pulse.has_lost_effects

        assert await seen() == (False, False, False)
        (row,) = await store.effects_of(*key)
        waiting = await store.own_effect(*key, row.ref, NO_OWNER)
        assert await seen() == (False, True, False)
        assert waiting is not None
        owned = await store.own_effect(*key, waiting.ref, mine)
        assert await seen() == (True, False, False)
        assert owned is not None
        await store.own_effect(*key, owned.ref, other)
        await store.register_node("other", time_to_live=ALIVE)
        assert await seen() == (False, False, True)  # The node has another life.

    async def test_the_pulse_tells_effects_of_nodes_that_died_or_left(self, store: Store, tenant: str) -> None:
        for name, lease in (("died", DEAD), ("left", ALIVE)):
            owner = (await store.register_node(name, time_to_live=lease)).node.owner
            commit = commit_of(instance(name, tenant=tenant), effects_added=(effect(tenant, name, owner=owner),))
            await committed(store, commit)
            if name == "left":
                assert not (await store.pulse(STRANGER, [])).has_lost_effects
                await store.leave(owner)
            assert (await store.pulse(STRANGER, [])).has_lost_effects
            (row,) = await store.effects_of(tenant, name)
            await store.own_effect(tenant, name, row.ref, NO_OWNER)

    async def test_the_pulse_tells_of_inbox_and_outbox(self, store: Store, tenant: str) -> None:
        await store.put_inbox([stimulus(tenant)])
        assert (await store.pulse(STRANGER, [])).has_inbox

        event = OutboxRow(tenant=tenant, id="o", topic="bus", created=AT, payload=b"")
        await committed(store, commit_of(instance("i", tenant=tenant), outbox_added=(event,)))
        assert (await store.pulse(STRANGER, [])).has_outbox
