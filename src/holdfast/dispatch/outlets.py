"""Outlets that publish lifecycle events to RabbitMQ (topic exchange), NATS JetStream (stream) or Redis (stream).

The exchange or stream is called `holdfast.events`. The routing key, or the end of the subject, is the event's name. An event
is delivered when the broker has confirmed it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

import msgspec

from holdfast.ports import LifecycleEvent

TOPIC = "holdfast.events"
KEPT_MAX = 1_000_000
"""Approximate number of events that a Redis stream keeps."""


class BrokerOutlet:
    """Connects with the first event, and reconnects after a failure. The relay retries events that were not delivered."""

    def __init__(self, url: str, *, name: str, events: Collection[str] = (), topic: str = TOPIC) -> None:
        self.name = name
        self.events = frozenset(events)
        self._wire = BROKERS[url.partition("://")[0]](url, topic)
        self._turn = asyncio.Lock()
        self._is_open = False

    async def deliver(self, event: LifecycleEvent) -> None:
        async with self._turn:
            if not self._is_open:
                await self._wire.open()
                self._is_open = True
            try:
                await self._wire.send(event.event, event.id, msgspec.json.encode(event))
            except BaseException:
                self._is_open = False
                await self._wire.close()
                raise

    async def close(self) -> None:
        if self._is_open:
            self._is_open = False
            await self._wire.close()


class _Rabbit:
    def __init__(self, url: str, topic: str) -> None:
        self._url, self._topic = url, topic
        self._connection: Any = None
        self._exchange: Any = None

    async def open(self) -> None:
        import aio_pika

        self._connection = await aio_pika.connect(self._url)
        channel = await self._connection.channel(publisher_confirms=True)
        self._exchange = await channel.declare_exchange(self._topic, aio_pika.ExchangeType.TOPIC, durable=True)

    async def send(self, key: str, identity: str, body: bytes) -> None:
        import aio_pika

        message = aio_pika.Message(
            body,
            message_id=identity,
            content_type="application/json",
            delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
        )
        await self._exchange.publish(message, routing_key=key)

    async def close(self) -> None:
        await self._connection.close()


class _Nats:
    def __init__(self, url: str, topic: str) -> None:
        self._url, self._topic = url, topic
        self._connection: Any = None
        self._stream: Any = None

    async def open(self) -> None:
        import nats

        self._connection = await nats.connect(self._url, allow_reconnect=False)
        self._stream = self._connection.jetstream()
        await self._stream.add_stream(name=self._topic.replace(".", "-"), subjects=[f"{self._topic}.>"])

    async def send(self, key: str, identity: str, body: bytes) -> None:
        await self._stream.publish(f"{self._topic}.{key}", body, headers={"Nats-Msg-Id": identity})

    async def close(self) -> None:
        await self._connection.close()


class _Redis:
    def __init__(self, url: str, topic: str) -> None:
        self._url, self._topic = url, topic
        self._connection: Any = None

    async def open(self) -> None:
        from redis.asyncio import Redis

        self._connection = Redis.from_url(self._url)

    async def send(self, key: str, identity: str, body: bytes) -> None:
        fields = {"event": key, "id": identity, "body": body}
        await self._connection.xadd(self._topic, fields, maxlen=KEPT_MAX, approximate=True)

    async def close(self) -> None:
        await self._connection.aclose()


BROKERS: dict[str, type[_Rabbit | _Nats | _Redis]] = {
    "amqp": _Rabbit,
    "amqps": _Rabbit,
    "nats": _Nats,
    "redis": _Redis,
    "rediss": _Redis,
}
"""Publishers by the scheme of the address."""
