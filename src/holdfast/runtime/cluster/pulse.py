"""The pulse of a node: one statement every few seconds answers the periodic questions of all its services.

A service runs when the pulse, or a change of the store, says that it has work. So an idle node sends the pulse and its heartbeat,
for any number of tenants, queues and schedules. The interval of the pulse is the longest delay after a lost notification.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta

from holdfast.model.changes import DEFINITIONS, Change
from holdfast.model.pulse import Pulse
from holdfast.ports import Store
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.queue_watch import QueueWatch
from holdfast.runtime.service import PeriodicService

ASK_INTERVAL = timedelta(milliseconds=250)
"""Shortest time between two pulses."""

OnPulse = Callable[[Pulse], None]
OnChange = Callable[[Change], None]


class NodePulse:
    def __init__(
        self,
        store: Store,
        membership: Membership,
        watch: QueueWatch,
        log: OutageLog,
        every: Callable[[], timedelta],
        on_pulse: Sequence[OnPulse],
        on_change: Sequence[OnChange],
    ) -> None:
        """`on_pulse` and `on_change` are the services that may have work."""
        self._store = store
        self._membership = membership
        self._watch = watch
        self._log = log
        self._on_pulse = on_pulse
        self._on_change = on_change
        self._end: Callable[[], None] | None = None
        self._beaten = float("-inf")
        self._asking: asyncio.TimerHandle | None = None
        self._service = PeriodicService(
            "pulse", self.beat, every=every, failure="the periodic questions of the node could not be asked", log=log
        )

    def start(self) -> None:
        self._watch.start()
        self._end = self._store.subscribe(self._changed)
        self._service.start()

    async def stop(self) -> None:
        end, self._end = self._end, None
        if end is not None:
            end()
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None
        self._watch.stop()
        await self._service.stop()

    def ask(self) -> None:
        """Ask soon, instead of at the end of the interval. Changes in quick succession share a pulse."""
        if self._asking is None and self._service.is_running:
            loop = asyncio.get_running_loop()
            self._asking = loop.call_at(max(loop.time(), self._beaten + ASK_INTERVAL.total_seconds()), self._wake)

    def _wake(self) -> None:
        self._asking = None
        self._service.wake()

    async def beat(self) -> None:
        self._beaten = asyncio.get_running_loop().time()
        pulse = await self._store.pulse(self._membership.owner, list(self._watch.queues))
        self._log.answered()
        self._watch.pulsed(pulse)
        for service in self._on_pulse:
            service(pulse)

    def _changed(self, change: Change) -> None:
        if change.topics == frozenset():
            return
        for service in self._on_change:
            service(change)
        if change.concerns(DEFINITIONS):
            self.ask()  # The pulse tells the epoch.
