"""Carrying within one process: for one node, and for tests. Everything goes through bytes, as on a real broker.

Tickets are lost when the process ends; the store sends them again. `local://` is a bus of its own; transports made with
`local://name` share the bus of that name, as two nodes share a broker.
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

from holdfast.dispatch.address import CarrierOptions, address_of
from holdfast.dispatch.carrier import Carrier
from holdfast.dispatch.delivery_queue import Carried, Intake
from holdfast.dispatch.transport_log import Voice
from holdfast.errors import TransportMisconfigured
from holdfast.model.ticket import Ticket
from holdfast.ports import DeadTicket, TransportListener


class Parcel(Struct, frozen=True):
    priority: int
    data: bytes
    returned: bool = False


class LocalBus:
    """Queues in memory. Belongs to one event loop."""

    def __init__(self) -> None:
        self._queues: dict[str, list[tuple[int, int, Parcel]]] = {}
        self._dead: dict[str, list[DeadTicket]] = {}
        self._order = count()
        self._timers: dict[str, set[asyncio.TimerHandle]] = {}
        self.intakes: list[LocalIntake] = []

    def put(self, queue: str, parcel: Parcel) -> None:
        heappush(self._queues.setdefault(queue, []), (-parcel.priority, next(self._order), parcel))
        self._wake(queue)

    def put_later(self, queue: str, parcel: Parcel, delay: timedelta) -> None:
        def due() -> None:
            waiting.discard(handle)
            self.put(queue, parcel)

        waiting = self._timers.setdefault(queue, set())
        handle = asyncio.get_running_loop().call_later(delay.total_seconds(), due)
        waiting.add(handle)

    def take(self, queue: str) -> Parcel | None:
        waiting = self._queues.get(queue)
        return heappop(waiting)[2] if waiting else None

    def bury(self, dead: DeadTicket) -> None:
        self._dead.setdefault(dead.queue, []).append(dead)

    def dead(self, queue: str) -> Sequence[DeadTicket]:
        return self._dead.get(queue, ())

    def delete(self, queue: str) -> None:
        self._queues.pop(queue, None)
        self._dead.pop(queue, None)
        for handle in self._timers.pop(queue, ()):
            handle.cancel()

    def _wake(self, queue: str) -> None:
        for intake in self.intakes:
            if queue in intake.queues:
                intake.arrived.set()


_SHARED: WeakValueDictionary[tuple[str, str], LocalBus] = WeakValueDictionary()
"""Buses by name and prefix, for as long as a transport has them."""


class LocalIntake(Intake[Parcel]):
    def __init__(self, bus: LocalBus, queues: Sequence[str], prefetch: int, voice: Voice) -> None:
        super().__init__(queues, prefetch, voice)
        self._bus = bus
        self.arrived = asyncio.Event()

    async def begin(self) -> None:
        self._bus.intakes.append(self)
        self.fetch(self._take())

    async def cease(self) -> None:
        if self in self._bus.intakes:
            self._bus.intakes.remove(self)

    async def end(self) -> None:
        """There is no connection."""

    async def finish(self, carried: Carried[Parcel]) -> None:
        self.arrived.set()

    async def give_back(self, carried: Sequence[Carried[Parcel]]) -> None:
        for one in carried:
            self._bus.put(one.queue, Parcel(one.receipt.priority, one.data, returned=True))
        self.arrived.set()

    async def bury(self, queue: str, data: bytes, receipt: Parcel, reason: str) -> None:
        self._bus.bury(DeadTicket(queue=queue, data=data, reason=reason))
        self.arrived.set()

    async def _take(self) -> None:
        while True:
            self.arrived.clear()
            for queue in self.queues:
                while self.room(queue) and (parcel := self._bus.take(queue)) is not None:
                    await self.receive(queue, parcel.data, parcel, redelivered=parcel.returned)
            await self.arrived.wait()


class LocalTransport(Carrier):
    name = "local"
    can_schedule = True
    can_prioritise = True

    def __init__(
        self,
        bus: LocalBus | None = None,
        *,
        options: CarrierOptions | None = None,
        listener: TransportListener | None = None,
    ) -> None:
        super().__init__("local://", options or CarrierOptions(), listener)
        self.bus = bus or LocalBus()

    async def _connect(self) -> None:
        """There is nobody to connect to."""

    async def _disconnect(self) -> None:
        """The bus lives on with whoever else has it."""

    def _passes(self, error: BaseException) -> bool:
        return False

    async def _send(self, queue: str, messages: Sequence[bytes], tickets: Sequence[Ticket]) -> None:
        for message, ticket in zip(messages, tickets, strict=True):
            self.bus.put(queue, Parcel(ticket.priority, message))

    async def _hold_back(self, queue: str, message: bytes, ticket: Ticket, delay: timedelta) -> None:
        self.bus.put_later(queue, Parcel(ticket.priority, message), delay)

    def _intake(self, queues: Sequence[str], prefetch: int) -> LocalIntake:
        return LocalIntake(self.bus, queues, prefetch, self.voice)

    async def _read_dead(self, queue: str, limit: int) -> Sequence[DeadTicket]:
        return self.bus.dead(queue)[:limit]

    async def _delete(self, queue: str) -> None:
        self.bus.delete(queue)


def local_from_url(url: str, *, listener: TransportListener | None = None) -> LocalTransport:
    address = address_of(url, example="local:// or local://name")
    parts = urlsplit(address.url)
    if parts.path.strip("/") or "@" in parts.netloc or ":" in parts.netloc:
        raise TransportMisconfigured(
            f"{address.shown} is within this process and has no place. Write local:// or local://name"
        )
    bus = LocalBus()
    if parts.netloc:
        bus = _SHARED.setdefault((parts.netloc, address.options.prefix), bus)
    return LocalTransport(bus, options=address.options, listener=listener)
