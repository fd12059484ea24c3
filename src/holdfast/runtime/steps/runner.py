"""Runs the step of a ticket on this node, if it is still open and its limits allow it.

The node first makes the effect row its own (`own_effect`), decided by the store, then settles the ticket, then starts the
effect. So a ticket that is delivered twice runs once, and a lost ticket is sent again. The node that ran the step commits its
result and runs the next segment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from holdfast.errors import HoldfastError, StoreError
from holdfast.model.work import NO_OWNER, EffectRef, EffectRow
from holdfast.ports import Store
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.effects.running_effects import EffectKey, RunningEffects
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.plans.obstacles import OBSTACLES
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.steps.capacity import StepCapacity
from holdfast.runtime.steps.effect_reads import EffectReads
from holdfast.runtime.steps.limits.per_value import LimitPerValue, Value
from holdfast.runtime.steps.queue_share import QueueShare
from holdfast.runtime.steps.tickets import StepTicket

GIVE_BACK_DELAY_SECONDS = 1.0
"""Delay before a ticket is given back that this node could not take, so that it does not return at once."""

Launch = Callable[[EffectRow], Awaitable[None]]
"""Starts an effect that this node owns."""


class StepRunner:
    def __init__(
        self,
        store: Store,
        membership: Membership,
        in_hand: InstancesInHand,
        cache: InstanceCache,
        plans: Plans,
        launch: Launch,
        running: RunningEffects,
        capacity: StepCapacity,
        log: OutageLog,
    ) -> None:
        self._store = store
        self._reads = EffectReads(store)
        self._membership = membership
        self._in_hand = in_hand
        self._cache = cache
        self._plans = plans
        self._launch = launch
        self._running = running
        self._capacity = capacity
        self._log = log

    async def run(self, ticket: StepTicket, share: QueueShare) -> bool:
        """Start the step of a ticket; returns whether this node started it."""
        key = effect_key(ticket)
        # Hold the instance before the node owns the step: the sweep picks up owned effects that no component holds.
        self._in_hand.hold(ticket.key)
        try:
            if share.per_value is not None and not await self._count(ticket, share, share.per_value):
                return False
            owned = await self._own(ticket)
            if owned is None:
                self._capacity.uncount(key, share)
                return False
            share.running.add(key)
            try:
                await self._launch(owned)
            except OBSTACLES as error:
                await self._return(owned, error)
            except HoldfastError:
                self._log.warning("a step of instance %s could not be started; the sweeper picks it up", ticket.key.id)
            finally:
                if not self._running.has(key):
                    self._capacity.effect_ended(key)
        finally:
            self._in_hand.release(ticket.key)
        return True

    async def _count(self, ticket: StepTicket, share: QueueShare, limit: LimitPerValue) -> bool:
        """Count the step for the limits per value; a step that may not start yet waits."""
        key = effect_key(ticket)
        if key in share.counted_values:  # A second delivery of a step that this node has started.
            await ticket.settle()
            return False
        counted: list[Value] = []
        share.counted_values[key] = counted
        may_start = False
        try:
            values = await self._values_of(ticket, limit)
            if values is None:  # Another node owns it, or it has ended.
                await ticket.settle()
                return False
            pause = await limit.start(values)
            if pause is None:
                share.counted_values[key], may_start = values, True
            else:
                del share.counted_values[key]  # Before it waits: it may be delivered again at once.
                await ticket.wait(values, pause)
        except OBSTACLES as error:
            await self._park(ticket, error)
        except StoreError as error:
            await self._give_back(ticket, error)
        finally:
            if share.counted_values.get(key) is counted:
                del share.counted_values[key]
        return may_start

    async def _values_of(self, ticket: StepTicket, limit: LimitPerValue) -> Sequence[Value] | None:
        """The values by which a step is counted; None if it is not open any more."""
        if ticket.values is not None:
            return ticket.values
        row = await self._reads.find(ticket.key, ticket.ref)
        if row is None:
            return None
        return await limit.values_of(row, ticket.content or (await self._cache.row(ticket.key)).content)

    async def _own(self, ticket: StepTicket) -> EffectRow | None:
        """Make the step this node's, then settle the ticket; None if another node owns it, or it cannot be taken."""
        tenant, instance_id = ticket.key
        try:
            # Before the node owns it: a node that lacks the code leaves the step to others (rule H10).
            if (parked := self._plans.obstacles.parked_name(tenant, instance_id)) is not None:
                await ticket.park(parked)
                return None
            if ticket.content:
                await self._plans.of(tenant).plan(ticket.content)
            owned = await self._store.own_effect(*ticket.key, ticket.ref, self._membership.owner)
        except OBSTACLES as error:
            await self._park(ticket, error)
            return None
        except StoreError as error:
            await self._give_back(ticket, error)
            return None
        await ticket.settle()
        return owned

    async def _park(self, ticket: StepTicket, error: Exception) -> None:
        tenant, instance_id = ticket.key
        await ticket.park(self._plans.obstacles.met(tenant, error, instance_id=instance_id, content=ticket.content))

    async def _return(self, row: EffectRow, error: Exception) -> None:
        """The state cannot be read here: give the step back without a lost attempt. The sweep sends it again."""
        self._plans.obstacles.met(row.tenant, error, instance_id=row.instance_id)
        given = EffectRef(row.execution, row.attempt, NO_OWNER)
        await self._store.move_effect(row.tenant, row.instance_id, row.ref, given)

    async def _give_back(self, ticket: StepTicket, error: Exception) -> None:
        self._log.warning("a step of instance %s could not be taken", ticket.key.id, because=error)
        await asyncio.sleep(GIVE_BACK_DELAY_SECONDS)
        await ticket.give_back()


def effect_key(ticket: StepTicket) -> EffectKey:
    return ticket.key, ticket.ref.execution
