"""RabbitMQ transport: durable quorum queues, publisher confirms, a dead-letter exchange, back-off after a disconnect.

The queue `mail` is `holdfast/mail`. Rejected messages, and messages that were returned a hundred times, go through the
exchange `holdfast/dead` to `holdfast/mail/dead`. A delayed message waits in a queue such as `holdfast/mail/later/1500`: its
messages expire after that many milliseconds and are dead-lettered into `holdfast/mail`. Each delay has its own queue, because
RabbitMQ expires messages only at the head of a queue. Delays are rounded up to two digits to limit the number of these
queues, and the broker deletes unused ones.

Receipts are valid for one channel. When the channel breaks, the broker redelivers all unsettled messages, so the consumer
drops them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from math import ceil
from typing import Any

import aio_pika
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractExchange, AbstractIncomingMessage
from aio_pika.exceptions import (
    CONNECTION_EXCEPTIONS,
    AuthenticationError,
    ChannelNotFoundEntity,
    ChannelPreconditionFailed,
    InvalidFrameError,
    ProbableAuthenticationError,
)
from aiormq.exceptions import ChannelAccessRefused, ConnectionNotAllowed

from holdfast.dispatch.address import Address, address_of, seconds
from holdfast.dispatch.backoff import pauses
from holdfast.dispatch.broker_consumer import BrokerConsumer, BrokerDelivery
from holdfast.dispatch.broker_transport import BrokerTransport
from holdfast.dispatch.connection_events import demote_driver_logs
from holdfast.errors import TransportMisconfigured
from holdfast.model.ticket import Ticket
from holdfast.ports import DeadTicket, TransportListener

_RETURNS_MAX = 100
"""Returns after which a ticket is dead-lettered: no worker can process it."""
_DEAD_MAX = 10_000
_REASON = "holdfast-reason"
_HEARTBEAT = timedelta(seconds=15)
_REFUSALS = (
    AuthenticationError,
    ProbableAuthenticationError,
    ChannelAccessRefused,
    ChannelPreconditionFailed,
    ConnectionNotAllowed,
    InvalidFrameError,  # The driver does not expect the frame with which RabbitMQ refuses an unknown virtual host.
)


class RabbitConnection:
    """One connection and the queues that were declared on it. A broken connection is replaced on the next use."""

    def __init__(self, address: Address, heartbeat: timedelta) -> None:
        self._address = address
        self._heartbeat = heartbeat
        self._lock = asyncio.Lock()
        self._connection: AbstractConnection | None = None
        self._channel: AbstractChannel | None = None
        self._declared: set[str] = set()

    async def channel(self) -> AbstractChannel:
        """The channel for publishing, with confirms. Unroutable messages raise."""
        async with self._lock:
            if self._channel is None or self._channel.is_closed or not self._alive:
                self._declared.clear()
                self._channel = await self._open_channel()
            return self._channel

    async def new_channel(self) -> AbstractChannel:
        """A channel for one consumer."""
        async with self._lock:
            return await self._open_channel()

    async def declare(self, topology: RabbitTopology, queue: str) -> AbstractExchange:
        """Declare the queue once per connection. Returns the exchange that routes to it by its name."""
        channel = await self.channel()
        if queue not in self._declared:
            await topology.declare(channel, queue)
            self._declared.add(queue)
        return channel.default_exchange

    def forget(self) -> None:
        """Declare all queues again: they may have been deleted."""
        self._declared.clear()

    async def close(self) -> None:
        connection, self._connection, self._channel = self._connection, None, None
        if connection is not None:
            with suppress(*CONNECTION_EXCEPTIONS, TimeoutError):
                await connection.close()

    @property
    def _alive(self) -> bool:
        """Whether the connection is up. `is_closed` of the driver is true only after our own `close`."""
        return self._connection is not None and self._connection.connected.is_set()

    async def _open_channel(self) -> AbstractChannel:
        try:
            if not self._alive:
                await self.close()
                pulse = max(1, round(self._heartbeat.total_seconds()))
                self._connection = await aio_pika.connect(f"{self._address.url}?heartbeat={pulse}")
            assert self._connection is not None
            channel = self._connection.channel(publisher_confirms=True, on_return_raises=True)
            await channel.initialize()
            return channel
        except _REFUSALS as error:
            raise TransportMisconfigured(
                f"RabbitMQ at {self._address.shown} refused the connection ({error}). Check user, password and virtual "
                "host, and that the user may configure, write and read there."
            ) from error


class RabbitTopology:
    """Names and declarations of the queues on the broker."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.dead_exchange = f"{prefix}/dead"

    def queue(self, queue: str) -> str:
        return f"{self._prefix}/{queue}"

    def dead(self, queue: str) -> str:
        return f"{self._prefix}/{queue}/dead"

    async def declare(self, channel: AbstractChannel, queue: str) -> None:
        name = self.queue(queue)
        try:
            exchange = await channel.declare_exchange(self.dead_exchange, durable=True)
            dead = await channel.declare_queue(
                self.dead(queue), durable=True, arguments={"x-max-length": _DEAD_MAX, "x-overflow": "drop-head"}
            )
            await dead.bind(exchange, routing_key=name)
            await channel.declare_queue(
                name,
                durable=True,
                arguments={
                    "x-queue-type": "quorum",
                    "x-delivery-limit": _RETURNS_MAX,
                    "x-dead-letter-exchange": self.dead_exchange,
                },
            )
        except ChannelPreconditionFailed as error:
            raise TransportMisconfigured(
                f"The queue '{name}' exists with other arguments ({error}). Delete it when it is empty, or give Holdfast "
                "another prefix: amqp://…?prefix=mine"
            ) from error

    async def declare_later(self, channel: AbstractChannel, queue: str, milliseconds: int) -> str:
        name = f"{self._prefix}/{queue}/later/{milliseconds}"
        await channel.declare_queue(
            name,
            durable=True,
            arguments={
                "x-message-ttl": milliseconds,
                "x-expires": milliseconds + 60_000,
                "x-dead-letter-exchange": "",
                "x-dead-letter-routing-key": self.queue(queue),
            },
        )
        return name


class RabbitConsumer(BrokerConsumer[AbstractIncomingMessage]):
    def __init__(
        self, transport: RabbitTransport, connection: RabbitConnection, queues: Sequence[str], prefetch: int
    ) -> None:
        super().__init__(queues, prefetch, transport.events)
        self._hold = transport.options.hold
        self._connection = connection
        self._topology = transport.topology
        self._channel: AbstractChannel | None = None
        self._broken = asyncio.Event()
        self._tags: list[str] = []

    async def start(self) -> None:
        try:
            await self._subscribe()
        except (*CONNECTION_EXCEPTIONS, TimeoutError) as error:
            self.events.disconnected(error)
            self._broken.set()
        self.start_fetching(self._keep_subscribed())
        self.start_fetching(self._watch())

    async def stop_fetching(self) -> None:
        """Cancel the subscriptions. The channel stays open, for settling."""
        if self._channel is not None:
            with suppress(*CONNECTION_EXCEPTIONS, TimeoutError):
                underlay = await self._channel.get_underlay_channel()
                for tag in self._tags:
                    await underlay.basic_cancel(tag)

    async def disconnect(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            with suppress(*CONNECTION_EXCEPTIONS, TimeoutError):
                await channel.close()

    async def finish(self, delivery: BrokerDelivery[AbstractIncomingMessage]) -> None:
        with suppress(*CONNECTION_EXCEPTIONS):
            await delivery.receipt.ack()

    async def requeue(self, deliveries: Sequence[BrokerDelivery[AbstractIncomingMessage]]) -> None:
        with suppress(*CONNECTION_EXCEPTIONS):
            for delivery in deliveries:
                await delivery.receipt.nack(requeue=True)

    async def dead_letter(self, queue: str, data: bytes, receipt: AbstractIncomingMessage, reason: str) -> None:
        """Publish a copy with the reason, then acknowledge the message. A crash in between leaves both, never neither. If
        the copy fails, the broker dead-letters the message itself, without the reason."""
        try:
            channel = await self._connection.channel()
            exchange = await channel.get_exchange(self._topology.dead_exchange, ensure=False)
            await exchange.publish(_message(data, {_REASON: reason}), self._topology.queue(queue))
            await receipt.ack()
        except CONNECTION_EXCEPTIONS:
            with suppress(*CONNECTION_EXCEPTIONS):
                await receipt.reject(requeue=False)

    async def _keep_subscribed(self) -> None:
        while True:
            await self._broken.wait()
            self.drop_all()
            await self.disconnect()
            for pause in pauses():
                await asyncio.sleep(pause.total_seconds())
                try:
                    await self._subscribe()
                except (*CONNECTION_EXCEPTIONS, TimeoutError, TransportMisconfigured) as error:
                    self.events.disconnected(error)
                else:
                    break
            self.events.reconnected()

    async def _watch(self) -> None:
        """Detect deleted queues: the broker does not always notify the consumer. A queue without a consumer was deleted and
        declared again."""
        while True:
            await asyncio.sleep(self._hold.total_seconds() / 2)
            with suppress(*CONNECTION_EXCEPTIONS, TimeoutError):
                for queue in self.queues:
                    if self._channel is not None and not self._broken.is_set():
                        found = await self._channel.declare_queue(self._topology.queue(queue), passive=True)
                        if not found.declaration_result.consumer_count:
                            self._broken.set()

    async def _subscribe(self) -> None:
        broken = self._broken = asyncio.Event()
        self._tags.clear()
        channel = self._channel = await self._connection.new_channel()
        await channel.set_qos(prefetch_count=self.prefetch)
        underlay = await channel.get_underlay_channel()
        underlay.on_consumer_cancel_callbacks.add(lambda _: broken.set())
        channel.close_callbacks.add(lambda *_: self._notice(broken, "the channel was closed"))
        for queue in self.queues:
            await self._topology.declare(channel, queue)
            found = await channel.get_queue(self._topology.queue(queue), ensure=False)
            self._tags.append(await found.consume(self._handler(queue, broken)))

    def _notice(self, broken: asyncio.Event, reason: str) -> None:
        if broken is self._broken and not self._stopped:
            self.events.disconnected(reason)
        broken.set()

    def _handler(self, queue: str, broken: asyncio.Event) -> Callable[[AbstractIncomingMessage], Any]:
        async def arrived(message: AbstractIncomingMessage) -> None:
            if not broken.is_set():
                await self.receive(queue, message.body, message, redelivered=bool(message.redelivered))

        return arrived


class RabbitTransport(BrokerTransport):
    name = "rabbitmq"
    can_schedule = True

    def __init__(
        self, address: Address, *, heartbeat: timedelta = _HEARTBEAT, listener: TransportListener | None = None
    ) -> None:
        super().__init__(address.shown, address.options, listener)
        demote_driver_logs("aiormq", "aio_pika")
        self.topology = RabbitTopology(address.options.prefix)
        # Two connections: a broker that is short of memory blocks publishers, and must not block acknowledgements.
        self._publisher_connection = RabbitConnection(address, heartbeat)
        self._consumer_connection = RabbitConnection(address, heartbeat)

    async def _connect(self) -> None:
        await self._publisher_connection.channel()

    async def _disconnect(self) -> None:
        await self._publisher_connection.close()
        await self._consumer_connection.close()

    def _is_transient(self, error: BaseException) -> bool:
        if isinstance(error, CONNECTION_EXCEPTIONS):
            self._publisher_connection.forget()
            return True
        return False

    async def _send(self, queue: str, messages: Sequence[bytes], tickets: Sequence[Ticket]) -> None:
        exchange = await self._publisher_connection.declare(self.topology, queue)
        await asyncio.gather(*(exchange.publish(_message(data), self.topology.queue(queue)) for data in messages))

    async def _send_later(self, queue: str, message: bytes, ticket: Ticket, delay: timedelta) -> None:
        exchange = await self._publisher_connection.declare(self.topology, queue)
        # Declare it each time: this counts as a use, so the broker does not delete the queue while the message waits.
        name = await self.topology.declare_later(await self._publisher_connection.channel(), queue, rounded_up(delay))
        await exchange.publish(_message(message), name)

    def _consumer(self, queues: Sequence[str], prefetch: int) -> RabbitConsumer:
        return RabbitConsumer(self, self._consumer_connection, queues, prefetch)

    async def _read_dead(self, queue: str, limit: int) -> Sequence[DeadTicket]:
        """Get messages without acknowledging them. The broker requeues them when the channel closes."""
        await self._publisher_connection.declare(self.topology, queue)
        channel = await self._publisher_connection.new_channel()
        try:
            dead = await channel.get_queue(self.topology.dead(queue), ensure=False)
            found: list[DeadTicket] = []
            while len(found) < limit and (message := await dead.get(no_ack=False, fail=False)) is not None:
                found.append(DeadTicket(queue=queue, data=message.body, reason=_reason(message)))
            return found
        finally:
            await channel.close()

    async def _delete(self, queue: str) -> None:
        self._publisher_connection.forget()
        channel = await self._publisher_connection.new_channel()
        try:
            for name in (self.topology.queue(queue), self.topology.dead(queue)):
                with suppress(ChannelNotFoundEntity):
                    await channel.queue_delete(name)
        finally:
            await channel.close()


def rounded_up(delay: timedelta) -> int:
    """The delay in milliseconds, at least 1, rounded up to two significant digits: at most a tenth longer."""
    milliseconds = max(1, ceil(delay / timedelta(milliseconds=1)))
    step: int = 10 ** max(0, len(str(milliseconds)) - 2)
    return -(-milliseconds // step) * step


def _message(data: bytes, headers: dict[str, Any] | None = None) -> aio_pika.Message:
    return aio_pika.Message(
        data, content_type="application/json", delivery_mode=aio_pika.DeliveryMode.PERSISTENT, headers=headers
    )


def _reason(message: AbstractIncomingMessage) -> str:
    if _REASON in message.headers:
        return str(message.headers[_REASON])
    deaths: Any = message.headers.get("x-death")
    return str(deaths[0]["reason"]) if deaths else "unknown"


def rabbitmq_from_url(url: str, *, listener: TransportListener | None = None) -> RabbitTransport:
    address = address_of(url, example="amqp://user:password@host:5672/", own=("heartbeat",))
    heartbeat = seconds("heartbeat", address.parts["heartbeat"], address.shown) if address.parts else _HEARTBEAT
    return RabbitTransport(address, heartbeat=heartbeat, listener=listener)
