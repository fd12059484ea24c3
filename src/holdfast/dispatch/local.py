"""In-process transport for a single node and for tests. Messages are bytes, as on a real broker.

Tickets are lost when the process ends, and the store sends them again. Each `local://` has its own bus. Transports made
with `local://name` share the bus of that name, as two nodes share a broker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from heapq import heappop, heappush
from itertools import count
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from msgspec import Struct

from holdfast.dispatch.address import TransportOptions, address_of
from holdfast.dispatch.broker_consumer import BrokerConsumer, BrokerDelivery
from holdfast.dispatch.broker_transport import BrokerTransport
from holdfast.dispatch.connection_events import ConnectionEvents
from holdfast.errors import TransportMisconfigured
from holdfast.model.ticket import Ticket
from holdfast.ports import DeadTicket, TransportListener


class QueuedMessage(Struct, frozen=True):
    priority: int
    data: bytes
    returned: bool = False


class LocalBus:
    """Queues in memory, for one event loop."""

    def __init__(self) -> None:
        self._queues: dict[str, list[tuple[int, int, QueuedMessage]]] = {}
        self._dead: dict[str, list[DeadTicket]] = {}
        self._order = count()
        self._timers: dict[str, set[asyncio.TimerHandle]] = {}
        self.consumers: list[LocalConsumer] = []

    def put(self, queue: str, message: QueuedMessage) -> None:
        heappush(self._queues.setdefault(queue, []), (-message.priority, next(self._order), message))
        self._wake(queue)

    def put_later(self, queue: str, message: QueuedMessage, delay: timedelta) -> None:
        def due() -> None:
            waiting.discard(handle)
            self.put(queue, message)

        waiting = self._timers.setdefault(queue, set())
        handle = asyncio.get_running_loop().call_later(delay.total_seconds(), due)
        waiting.add(handle)

    def take(self, queue: str) -> QueuedMessage | None:
        waiting = self._queues.get(queue)
        return heappop(waiting)[2] if waiting else None

    def dead_letter(self, dead: DeadTicket) -> None:
        self._dead.setdefault(dead.queue, []).append(dead)

    def dead(self, queue: str) -> Sequence[DeadTicket]:
        return self._dead.get(queue, ())

    def delete(self, queue: str) -> None:
        self._queues.pop(queue, None)
        self._dead.pop(queue, None)
        for handle in self._timers.pop(queue, ()):
            handle.cancel()

    def _wake(self, queue: str) -> None:
        for consumer in self.consumers:
            if queue in consumer.queues:
                consumer.arrived.set()


_SHARED: WeakValueDictionary[tuple[str, str], LocalBus] = WeakValueDictionary()
"""Buses by name and prefix, as long as a transport uses them."""


class LocalConsumer(BrokerConsumer[QueuedMessage]):
    def __init__(self, bus: LocalBus, queues: Sequence[str], prefetch: int, events: ConnectionEvents) -> None:
        super().__init__(queues, prefetch, events)
        self._bus = bus
        self.arrived = asyncio.Event()

    async def start(self) -> None:
        self._bus.consumers.append(self)
        self.start_fetching(self._take())

    async def stop_fetching(self) -> None:
        if self in self._bus.consumers:
            self._bus.consumers.remove(self)

    async def disconnect(self) -> None:
        """There is no connection."""

    async def finish(self, delivery: BrokerDelivery[QueuedMessage]) -> None:
        self.arrived.set()

    async def requeue(self, deliveries: Sequence[BrokerDelivery[QueuedMessage]]) -> None:
        for delivery in deliveries:
            self._bus.put(delivery.queue, QueuedMessage(delivery.receipt.priority, delivery.data, returned=True))
        self.arrived.set()

    async def dead_letter(self, queue: str, data: bytes, receipt: QueuedMessage, reason: str) -> None:
        self._bus.dead_letter(DeadTicket(queue=queue, data=data, reason=reason))
        self.arrived.set()

    async def _take(self) -> None:
        while True:
            self.arrived.clear()
            for queue in self.queues:
                while self.room(queue) and (message := self._bus.take(queue)) is not None:
                    await self.receive(queue, message.data, message, redelivered=message.returned)
            await self.arrived.wait()


class LocalTransport(BrokerTransport):
    name = "local"
    can_schedule = True
    can_prioritize = True

    def __init__(
        self,
        bus: LocalBus | None = None,
        *,
        options: TransportOptions | None = None,
        listener: TransportListener | None = None,
    ) -> None:
        super().__init__("local://", options or TransportOptions(), listener)
        self.bus = bus or LocalBus()

    async def _connect(self) -> None:
        """There is no broker."""

    async def _disconnect(self) -> None:
        """Other transports may still use the bus."""

    def _is_transient(self, error: BaseException) -> bool:
        return False

    async def _send(self, queue: str, messages: Sequence[bytes], tickets: Sequence[Ticket]) -> None:
        for message, ticket in zip(messages, tickets, strict=True):
            self.bus.put(queue, QueuedMessage(ticket.priority, message))

    async def _send_later(self, queue: str, message: bytes, ticket: Ticket, delay: timedelta) -> None:
        self.bus.put_later(queue, QueuedMessage(ticket.priority, message), delay)

    def _consumer(self, queues: Sequence[str], prefetch: int) -> LocalConsumer:
        return LocalConsumer(self.bus, queues, prefetch, self.events)

    async def _read_dead(self, queue: str, limit: int) -> Sequence[DeadTicket]:
        return self.bus.dead(queue)[:limit]

    async def _delete(self, queue: str) -> None:
        self.bus.delete(queue)


def local_from_url(url: str, *, listener: TransportListener | None = None) -> LocalTransport:
    address = address_of(url, example="local:// or local://name")
    parts = urlsplit(address.url)
    if parts.path.strip("/") or "@" in parts.netloc or ":" in parts.netloc:
        raise TransportMisconfigured(
            f"{address.shown}: the local transport takes no host, port or path. Write local:// or local://name"
        )
    bus = LocalBus()
    if parts.netloc:
        bus = _SHARED.setdefault((parts.netloc, address.options.prefix), bus)
    return LocalTransport(bus, options=address.options, listener=listener)
