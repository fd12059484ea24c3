"""Base class of consumers: prefetch limits, unsettled deliveries, and the iterator over deliveries.

The consumer of a transport fetches at most `room(queue)` messages and passes each to `receive`. It settles them when
`finish`, `requeue` or `dead_letter` is called. Everything here runs on one event loop, so nothing is locked.
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
"""The receipt with which a transport settles a message."""


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
    """Implements `holdfast.ports.Consumer` as a context manager, except for fetching and settling."""

    def __init__(self, queues: Sequence[str], prefetch: int, events: ConnectionEvents) -> None:
        if not queues:
            raise ValueError("consume needs at least one queue: name the queues that this worker serves")
        if prefetch < 1:
            raise ValueError(f"prefetch is {prefetch}: give 1 or more")
        self.queues = tuple(dict.fromkeys(map(checked_queue, queues)))
        self.prefetch = prefetch
        self.events = events
        self.unsettled: set[BrokerDelivery[R]] = set()
        """Deliveries that are fetched and not settled, whether or not the iterator has returned them."""
        self._ready: deque[BrokerDelivery[R]] = deque()
        self._counts: Counter[str] = Counter()
        self._changed = asyncio.Event()
        self._stopped = False
        self._left = False
        self._failure: BaseException | None = None
        self._fetching: list[asyncio.Task[None]] = []
        self._renewing: list[asyncio.Task[None]] = []

    # -- implemented by each transport ---------------------------------------------------------------------------------

    @abstractmethod
    async def start(self) -> None:
        """Start to fetch. Raise only errors that a retry cannot solve."""

    @abstractmethod
    async def stop_fetching(self) -> None:
        """Stop fetching. Deliveries can still be settled."""

    @abstractmethod
    async def disconnect(self) -> None:
        """Release the connection. All deliveries are settled or requeued by then."""

    @abstractmethod
    async def finish(self, delivery: BrokerDelivery[R]) -> None: ...

    @abstractmethod
    async def requeue(self, deliveries: Sequence[BrokerDelivery[R]]) -> None: ...

    @abstractmethod
    async def dead_letter(self, queue: str, data: bytes, receipt: R, reason: str) -> None:
        """Move a message to the dead letters."""

    # -- called by each transport --------------------------------------------------------------------------------------

    def room(self, queue: str) -> int:
        return 0 if self._stopped else self.prefetch - self._counts[queue]

    async def wait_for_room(self, queue: str) -> int:
        """Wait until more messages may be fetched. Returns 0 once the consumer is stopped."""
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
        """Remove a delivery from the unsettled ones. False if it was settled or dropped before."""
        if not delivery.open:
            return False
        delivery.open = False
        self.unsettled.discard(delivery)
        self._counts[delivery.queue] -= 1
        self._changed.set()
        return True

    def drop_all(self) -> None:
        """Forget all deliveries: the broker will redeliver them, and settling them has no effect any more."""
        for delivery in tuple(self.unsettled):
            self.release(delivery)
        self._ready.clear()

    def start_fetching(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a task that runs until `stop`."""
        self._start(work, self._fetching)

    def start_renewal(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a task that renews the leases of unsettled deliveries. It runs until the consumer is closed."""
        self._start(work, self._renewing)

    def _start(self, work: Coroutine[Any, Any, None], tasks: list[asyncio.Task[None]]) -> None:
        task = asyncio.create_task(work)
        task.add_done_callback(self._ended)
        tasks.append(task)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Raise the error of a failed task in the iterator, which would get no more deliveries."""
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
        """Close the consumer, at the end of its block or when the transport closes."""
        if self._left:
            return
        self._left = True
        await self.stop()
        await self.requeue([delivery for delivery in tuple(self.unsettled) if self.release(delivery)])
        await _cancel(self._renewing)
        await self.disconnect()


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel until all tasks are done: a driver may swallow a cancellation that arrives together with a reply."""
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=0.5)
