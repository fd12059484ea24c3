"""Takes steps from a broker: each delivery names a step of the store."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta
from functools import partial

from holdfast.errors import TransportError
from holdfast.model.ticket import Ticket
from holdfast.ports import Delivery, Store, Transport
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.observability.throttled_log import ThrottledLog
from holdfast.runtime.service import NOW, BackgroundTasks, PeriodicService
from holdfast.runtime.steps.capacity import StepCapacity
from holdfast.runtime.steps.queue_share import QueueShare
from holdfast.runtime.steps.runner import StepRunner
from holdfast.runtime.steps.tickets import BrokerTicket

RETRY_INTERVAL = timedelta(seconds=1)
"""Pause before a broker is used again that failed."""


class TicketIntake:
    def __init__(
        self,
        transport: Transport,
        store: Store,
        tenants: Collection[str],
        runner: StepRunner,
        capacity: StepCapacity,
        shares: Sequence[QueueShare],
        background: BackgroundTasks,
        log: OutageLog,
    ) -> None:
        self._transport = transport
        self._store = store
        self._tenants = tenants
        self._runner = runner
        self._capacity = capacity
        self._background = background
        self._unavailable = ThrottledLog()
        self.services = [
            PeriodicService(
                "step-tickets",
                partial(self._consume, share),
                every=RETRY_INTERVAL,
                failure=f"steps could not be taken from {transport.name}",
                log=log,
            )
            for share in shares
        ]

    async def _consume(self, share: QueueShare) -> timedelta | None:
        try:
            async with self._transport.consume(share.queues, prefetch=self._capacity.concurrency) as consumer:
                async for delivery in consumer:
                    reserved = await self._capacity.reserve(share, 1)
                    mark = f"{delivery.ticket.instance_id}.{delivery.ticket.execution}"
                    share.begin(mark)
                    self._capacity.settle(share, reserved, 1)
                    self._background.start(self._run(delivery, share, mark))
        except TransportError as error:
            self._unavailable.warning("steps could not be taken from %s", self._transport.name, because=error)
            return None
        return NOW

    async def _run(self, delivery: Delivery, share: QueueShare, mark: str) -> None:
        try:
            if is_step_of(delivery.ticket, self._tenants):
                await self._runner.run(BrokerTicket(self._store, delivery), share)
            else:
                await delivery.ack()
        finally:
            share.starting.discard(mark)
            self._capacity.freed(share)


def is_step_of(ticket: Ticket, tenants: Collection[str]) -> bool:
    """Whether a ticket names a step of these tenants: a broker may deliver anything."""
    return ticket.instance_id is not None and ticket.execution is not None and ticket.tenant in tenants
