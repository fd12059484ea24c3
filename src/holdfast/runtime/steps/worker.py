"""The worker of steps: sends the steps that this node commits, and takes and runs steps of the queues that it serves."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from holdfast.execution.live import LiveInstance
from holdfast.model.stored import InstanceRow
from holdfast.model.ticket import Ticket
from holdfast.model.work import NO_OWNER, EffectRow
from holdfast.ports import Store
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.placement import Placement
from holdfast.runtime.commits.spent_rows import SpentRows
from holdfast.runtime.effects.running_effects import EffectKey, RunningEffects
from holdfast.runtime.intake import Intake
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.queue_watch import QueueWatch
from holdfast.runtime.service import BackgroundTasks, PeriodicService
from holdfast.runtime.steps.capacity import StepCapacity
from holdfast.runtime.steps.queue_share import QueueShare
from holdfast.runtime.steps.row_intake import RowIntake
from holdfast.runtime.steps.runner import Launch, StepRunner, effect_key
from holdfast.runtime.steps.sender import StepSender
from holdfast.runtime.steps.ticket_intake import TicketIntake, is_step_of
from holdfast.runtime.steps.tickets import CarriedTicket


class StepWorker:
    def __init__(
        self,
        store: Store,
        watch: QueueWatch,
        membership: Membership,
        liveness: Liveness,
        intake: Intake,
        in_hand: InstancesInHand,
        cache: InstanceCache,
        plans: Plans,
        placement: Placement,
        sender: StepSender,
        launch: Launch,
        running: RunningEffects,
        shares: Iterable[QueueShare],
        concurrency: int,
        tenants: Collection[str],
        spent: SpentRows,
        log: OutageLog,
    ) -> None:
        self._membership = membership
        self._intake = intake
        self._placement = placement
        self._sender = sender
        self._running = running
        self._tenants = tenants
        self._shares = list(shares)
        self._background = BackgroundTasks("a step failed outside of its activity")
        self._capacity = StepCapacity(liveness, intake, self._shares, concurrency, self._background)
        self._runner = StepRunner(store, membership, in_hand, cache, plans, launch, running, self._capacity, log)
        self._rows = RowIntake(
            store, watch, plans, spent, self._runner, self._capacity, self._shares, self._background, log
        )
        self._services: list[PeriodicService] = list(self._rows.services)
        if placement.transport is not None:
            tickets = TicketIntake(
                placement.transport, store, tenants, self._runner, self._capacity, self._shares, self._background, log
            )
            self._services += tickets.services
        self._is_taking = False

    @property
    def concurrency(self) -> int:
        """Steps that run on this node at one time."""
        return self._capacity.concurrency

    @concurrency.setter
    def concurrency(self, steps: int) -> None:
        self._capacity.concurrency = steps

    # -- life ----------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Take steps of the queues that this node serves."""
        self._is_taking = True
        for service in self._services:
            service.start()

    async def stop_taking(self) -> None:
        """Take no new steps; steps that run continue."""
        self._is_taking = False
        await asyncio.gather(*(service.stop() for service in self._services))
        await self._rows.release()

    async def stop(self) -> None:
        await self.stop_taking()
        await self._sender.stop()
        await self._background.stop()

    # -- sending -------------------------------------------------------------------------------------------------------

    def send(self, live: LiveInstance, row: InstanceRow, effects: Sequence[EffectRow]) -> None:
        """Send the effects of a commit that no node owns yet; called after the commit."""
        queued = [effect for effect in effects if effect.queue and effect.owner == NO_OWNER]
        if not queued:
            return
        self._capacity.wake()
        self._sender.send(live, row, queued)
        if self._is_taking and self._placement.rows and not self._intake.in_quarantine:
            self._rows.take_committed(live, row, queued)

    def may_lack_ticket(self, row: EffectRow, now: datetime) -> bool:
        """Whether a step that no node owns may have lost its ticket."""
        return self._sender.may_lack_ticket(row, now)

    def resend(self, row: EffectRow) -> None:
        """Send a step again that no node took."""
        self._sender.resend(row)

    async def give_back(self, row: EffectRow) -> None:
        """Send the ticket of a step that this node gives back when it stops: no other ticket for it exists."""
        if row.queue and not row.canceled:
            await self._sender.give_back(row, self._membership.next_id())

    # -- running -------------------------------------------------------------------------------------------------------

    def effect_ended(self, key: EffectKey) -> None:
        """An effect that ran on this node has ended."""
        self._capacity.effect_ended(key)

    async def run_to_end(self, ticket: Ticket) -> bool:
        """Run the step of a ticket and wait until it has ended, for carriers whose workers limit their own concurrency.
        Returns whether this node started it."""
        if not is_step_of(ticket, self._tenants):
            return False
        carried = CarriedTicket(ticket)
        started = await self._runner.run(carried, QueueShare(()))
        if started:
            await self._running.wait_ended(effect_key(carried))
        return started
