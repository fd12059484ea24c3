"""What consumers of all transports share: deliveries between those who fetch and the one who takes.

A transport's own consumer fetches at most `room(queue)` messages and hands each to `receive`; it is told by four verbs
what becomes of them. Everything here runs on one event loop, so nothing is locked.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Coroutine, Sequence
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from holdfast.dispatch.connection_events import ConnectionEvents
from holdfast.errors import UnreadableTicket
from holdfast.model.ticket import Ticket, checked_queue, decode_ticket
from holdfast.ports import Delivery, Poisoned

R = TypeVar("R")
"""A transport's receipt for a message: what it needs to settle it."""


class BrokerDelivery(Generic[R]):
    """Implements `holdfast.ports.Delivery`."""

    __slots__ = ("_consumer", "data", "open", "queue", "receipt", "redelivered", "ticket")

    def __init__(
        self, consumer: BrokerConsumer[R], queue: str, data: bytes, receipt: R, ticket: Ticket, redelivered: bool
    ) -> None:
        self._consumer = consumer
        self.queue = queue
        self.data = data
        self.receipt = receipt
        self.ticket = ticket
        self.redelivered = redelivered
        self.open = True

    async def ack(self) -> None:
        if self._consumer.release(self):
            await self._consumer.finish(self)

    async def nack(self, *, requeue: bool = True) -> None:
        if self._consumer.release(self):
            await (self._consumer.requeue([self]) if requeue else self._consumer.finish(self))

    async def reject(self, reason: str) -> None:
        if self._consumer.release(self):
            await self._consumer.dead_letter(self.queue, self.data, self.receipt, reason)


class BrokerConsumer(ABC, Generic[R]):
    """Implements `holdfast.ports.Consumer` and the block around it, but for fetching and settling."""

    def __init__(self, queues: Sequence[str], prefetch: int, events: ConnectionEvents) -> None:
        if not queues:
            raise ValueError("consume needs at least one queue: name those that this worker serves")
        if prefetch < 1:
            raise ValueError(f"prefetch is {prefetch}: give 1 or more")
        self.queues = tuple(dict.fromkeys(map(checked_queue, queues)))
        self.prefetch = prefetch
        self.events = events
        self.unsettled: set[BrokerDelivery[R]] = set()
        """Fetched and not settled, handed out or not."""
        self._ready: deque[BrokerDelivery[R]] = deque()
        self._counts: Counter[str] = Counter()
        self._changed = asyncio.Event()
        self._stopped = False
        self._left = False
        self._failure: BaseException | None = None
        self._fetching: list[asyncio.Task[None]] = []
        self._renewing: list[asyncio.Task[None]] = []

    # -- what a transport adds -----------------------------------------------------------------------------------------

    @abstractmethod
    async def start(self) -> None:
        """Start to fetch. Raise only what will not pass by itself."""

    @abstractmethod
    async def stop_fetching(self) -> None:
        """Fetch no more; `requeue` and the others still work."""

    @abstractmethod
    async def disconnect(self) -> None:
        """All is settled or given back: let the connection go."""

    @abstractmethod
    async def finish(self, delivery: BrokerDelivery[R]) -> None: ...

    @abstractmethod
    async def requeue(self, deliveries: Sequence[BrokerDelivery[R]]) -> None: ...

    @abstractmethod
    async def dead_letter(self, queue: str, data: bytes, receipt: R, reason: str) -> None:
        """To the dead letters."""

    # -- what a transport calls ----------------------------------------------------------------------------------------

    def room(self, queue: str) -> int:
        return 0 if self._stopped else self.prefetch - self._counts[queue]

    async def wait_for_room(self, queue: str) -> int:
        """0 once it is stopped: end the loop."""
        while not (room := self.room(queue)) and not self._stopped:
            await self.wait_for_change()
        return room

    async def wait_for_change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    async def receive(self, queue: str, data: bytes, receipt: R, *, redelivered: bool) -> None:
        try:
            ticket = decode_ticket(data)
        except UnreadableTicket as error:
            await self.dead_letter(queue, data, receipt, str(error))
            self.events.emit(Poisoned(transport=self.events.name, queue=queue, data=data, reason=str(error)))
            return
        delivery = BrokerDelivery(self, queue, data, receipt, ticket, redelivered)
        if self._stopped:
            await self.requeue([delivery])
            return
        self.unsettled.add(delivery)
        self._counts[queue] += 1
        self._ready.append(delivery)
        self._changed.set()

    def release(self, delivery: BrokerDelivery[R]) -> bool:
        """Count it out; False if it was settled, or lost, before."""
        if not delivery.open:
            return False
        delivery.open = False
        self.unsettled.discard(delivery)
        self._counts[delivery.queue] -= 1
        self._changed.set()
        return True

    def drop_all(self) -> None:
        """The broker has taken everything back: settling does nothing any more, and it will come again."""
        for delivery in tuple(self.unsettled):
            self.release(delivery)
        self._ready.clear()

    def start_fetching(self, work: Coroutine[Any, Any, None]) -> None:
        """A task that lives until `stop`."""
        self._start(work, self._fetching)

    def start_renewal(self, work: Coroutine[Any, Any, None]) -> None:
        """A task that lives until the block ends: deliveries in hand stay ours that long."""
        self._start(work, self._renewing)

    def _start(self, work: Coroutine[Any, Any, None], tasks: list[asyncio.Task[None]]) -> None:
        task = asyncio.create_task(work)
        task.add_done_callback(self._ended)
        tasks.append(task)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A task that fails is told to whoever waits for deliveries: they would not come any more."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failure = error
            self._changed.set()

    # -- the port ------------------------------------------------------------------------------------------------------

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Delivery:
        while True:
            while self._ready:
                delivery = self._ready.popleft()
                if delivery.open:
                    return delivery
            if self._failure is not None:
                raise self._failure
            if self._stopped:
                raise StopAsyncIteration
            await self.wait_for_change()

    async def stop(self) -> None:
        if self._stopped:
            return
        self._stopped = True
        self._changed.set()
        await _cancel(self._fetching)
        await self.stop_fetching()
        unseen = [delivery for delivery in self._ready if self.release(delivery)]
        self._ready.clear()
        await self.requeue(unseen)

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.leave()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.leave()

    async def leave(self) -> None:
        """The end of the block, or of the transport, whichever comes first."""
        if self._left:
            return
        self._left = True
        await self.stop()
        await self.requeue([delivery for delivery in tuple(self.unsettled) if self.release(delivery)])
        await _cancel(self._renewing)
        await self.disconnect()


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    """More than once if need be: a driver may swallow a cancellation that comes together with its answer."""
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=0.5)
