"""The relay: delivers rows of the outbox table to the outlets of this node and deletes delivered rows (rule M8)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta

import msgspec

from holdfast.model.changes import OUTBOX, Change
from holdfast.model.pulse import Pulse
from holdfast.model.work import OutboxRow
from holdfast.ports import ClosableOutlet, LifecycleEvent, Outlet, Store
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.service import WakeableService

logger = logging.getLogger("holdfast")

PAGE = 100
LEASE = timedelta(seconds=60)
"""Time for which rows are invisible to other nodes while this node delivers them."""
BACKOFF_MAX = timedelta(minutes=10)

_decode = msgspec.json.Decoder(LifecycleEvent).decode


class Relay:
    def __init__(self, store: Store, outlets: Sequence[Outlet], tenants: Collection[str], log: OutageLog) -> None:
        self._store = store
        self._outlets = {outlet.name: outlet for outlet in outlets}
        self._tenants = tenants
        self._service = WakeableService("relay", self._round, failure="the outbox could not be delivered", log=log)

    def start(self) -> None:
        if self._outlets:
            self._service.start()

    async def stop(self) -> None:
        await self._service.stop()
        for outlet in self._outlets.values():
            if isinstance(outlet, ClosableOutlet):
                await outlet.close()

    def pulsed(self, pulse: Pulse) -> None:
        """Rows that could not be delivered, or that another node left, are due again some time."""
        if pulse.has_outbox:
            self._service.wake()

    def changed(self, change: Change) -> None:
        if change.concerns(OUTBOX):
            self._service.wake()

    async def _round(self) -> None:
        while await self.deliver():
            pass

    async def deliver(self) -> int:
        """Deliver the rows that are due now; returns the number delivered."""
        rows = await self._store.take_outbox(PAGE, LEASE)
        done = await asyncio.gather(*map(self._deliver_one, rows))
        delivered = [row for row, was_delivered in zip(rows, done, strict=True) if was_delivered]
        await self._store.delete_outbox(delivered)
        return len(delivered)

    async def _deliver_one(self, row: OutboxRow) -> bool:
        outlet = self._outlets.get(row.topic)
        pause = min(timedelta(seconds=2 ** min(row.attempts, 10)), BACKOFF_MAX)
        try:
            if outlet is None or row.tenant not in self._tenants:
                pause = LEASE  # Another node has this outlet.
            else:
                await outlet.deliver(_decode(row.payload))
                return True
        except Exception as error:  # noqa: BLE001 - outlets are user code
            logger.warning("outlet %s failed for event %s (attempt %d): %r", row.topic, row.id, row.attempts, error)
        await self._store.return_outbox([row], pause)
        return False


class FunctionOutlet:
    """An outlet that calls a function: hand events to a broker, a log, or a queue of your own."""

    def __init__(
        self, name: str, deliver: Callable[[LifecycleEvent], Awaitable[None]], *, events: Collection[str] = ()
    ) -> None:
        self.name = name
        self.events = frozenset(events)
        self._deliver = deliver

    async def deliver(self, event: LifecycleEvent) -> None:
        await self._deliver(event)
