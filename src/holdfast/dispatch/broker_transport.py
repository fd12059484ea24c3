"""Base class of transports: open and close, publish with retries, and the registry of open consumers."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from holdfast.dispatch.address import TransportOptions
from holdfast.dispatch.backoff import retrying
from holdfast.dispatch.broker_consumer import BrokerConsumer
from holdfast.dispatch.connection_events import ConnectionEvents
from holdfast.errors import DelayUnsupported, TransportClosed
from holdfast.model.ticket import Ticket, checked_queue, encode_ticket
from holdfast.ports import Consumer, DeadTicket, TransportListener
from holdfast.ports.transport import DEFAULT_PREFETCH

T = TypeVar("T")

_PUBLISH_BATCH = 256
"""Messages that are sent, confirmed and retried together."""


class BrokerTransport(ABC):
    """Implements `holdfast.ports.Transport`, except for the protocol of a broker."""

    name: str
    can_schedule = False
    can_prioritize = False

    def __init__(self, where: str, options: TransportOptions, listener: TransportListener | None) -> None:
        self.options = options
        self.where = where
        """The address without the password."""
        self.events = ConnectionEvents(self.name, listener)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._active_calls = 0
        self._idle = asyncio.Event()
        self._consumers: set[BrokerConsumer[Any]] = set()

    # -- implemented by each transport ---------------------------------------------------------------------------------

    @abstractmethod
    async def _connect(self) -> None: ...

    @abstractmethod
    async def _disconnect(self) -> None:
        """Close the connection. Also called after `_connect` failed."""

    @abstractmethod
    async def _send(self, queue: str, messages: Sequence[bytes], tickets: Sequence[Ticket]) -> None:
        """Return when the broker has confirmed all messages. Transient errors are retried."""

    @abstractmethod
    def _is_transient(self, error: BaseException) -> bool:
        """Whether a retry may succeed."""

    @abstractmethod
    def _consumer(self, queues: Sequence[str], prefetch: int) -> BrokerConsumer[Any]: ...

    @abstractmethod
    async def _read_dead(self, queue: str, limit: int) -> Sequence[DeadTicket]: ...

    @abstractmethod
    async def _delete(self, queue: str) -> None: ...

    async def _send_later(self, queue: str, message: bytes, ticket: Ticket, delay: timedelta) -> None:
        raise DelayUnsupported(self.name)

    # -- the port ------------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        if self._loop is not None:
            return
        try:
            await self.retrying(self._connect)
        except BaseException:
            await self._disconnect()
            raise
        self._loop = asyncio.get_running_loop()

    async def close(self) -> None:
        if self._loop is None:
            return
        self._loop = None
        while self._active_calls:
            self._idle.clear()
            await self._idle.wait()
        for consumer in tuple(self._consumers):
            await consumer.leave()
        await self._disconnect()

    async def publish(self, queue: str, tickets: Sequence[Ticket]) -> None:
        checked_queue(queue)
        messages = [encode_ticket(ticket) for ticket in tickets]
        async with self._working():
            for start in range(0, len(messages), _PUBLISH_BATCH):
                some = slice(start, start + _PUBLISH_BATCH)
                await self.retrying(partial(self._send, queue, messages[some], tickets[some]))

    async def schedule(self, queue: str, ticket: Ticket, delay: timedelta) -> None:
        checked_queue(queue)
        message = encode_ticket(ticket)
        if not self.can_schedule:
            raise DelayUnsupported(self.name)
        if delay <= timedelta(0):
            await self.publish(queue, [ticket])
            return
        async with self._working():
            await self.retrying(lambda: self._send_later(queue, message, ticket, delay))

    def consume(self, queues: Sequence[str], prefetch: int = DEFAULT_PREFETCH) -> AbstractAsyncContextManager[Consumer]:
        return self._consuming(self._consumer(queues, prefetch))

    async def dead_letters(self, queue: str, limit: int = 100) -> Sequence[DeadTicket]:
        checked_queue(queue)
        async with self._working():
            return await self.retrying(lambda: self._read_dead(queue, limit))

    async def delete_queue(self, queue: str) -> None:
        checked_queue(queue)
        async with self._working():
            await self.retrying(lambda: self._delete(queue))

    # -- inside --------------------------------------------------------------------------------------------------------

    async def retrying(self, operation: Callable[[], Awaitable[T]]) -> T:
        return await retrying(
            operation,
            is_transient=self._is_transient,
            timeout=self.options.patience,
            what=f"The broker at {self.where}",
        )

    @asynccontextmanager
    async def _consuming(self, consumer: BrokerConsumer[Any]) -> AsyncIterator[Consumer]:
        self._check()
        self._consumers.add(consumer)
        try:
            async with consumer:
                yield consumer
        finally:
            self._consumers.discard(consumer)

    @asynccontextmanager
    async def _working(self) -> AsyncIterator[None]:
        """`close` waits until the block ends."""
        self._check()
        self._active_calls += 1
        try:
            yield
        finally:
            self._active_calls -= 1
            self._idle.set()

    def _check(self) -> None:
        if self._loop is None:
            raise TransportClosed(
                f"The transport '{self.name}' is not open. Await open() first, and not after close()."
            )
        if self._loop is not asyncio.get_running_loop():
            raise TransportClosed(
                f"The transport '{self.name}' was opened in another event loop. Open one in each loop and process."
            )
