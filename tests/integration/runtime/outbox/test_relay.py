"""Lifecycle events at a broker, and the outlets that the settings name."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from holdfast import Holdfast, Workflow
from holdfast.activities import Event
from holdfast.dispatch.outlets import BrokerOutlet
from holdfast.engine.outlets import outlets_of
from holdfast.errors import SettingsError
from holdfast.ports import LifecycleEvent
from holdfast.runtime.outbox.webhook import Webhook
from holdfast.settings import load_settings
from tests.support.services.brokers import broker_at_hand

EVENT = LifecycleEvent(
    id="i.1.0",
    event="instance.started",
    at=datetime(2026, 1, 1, tzinfo=UTC),
    tenant="",
    instance_id="i",
    definition_id="d",
    definition_version=1,
    status="running",
    version=1,
)
Got = tuple[str, bytes]


async def rabbitmq(url: str, topic: str, send: Callable[[], Awaitable[None]]) -> Got:
    import aio_pika

    async with await aio_pika.connect(url) as connection:
        channel = await connection.channel()
        exchange = await channel.declare_exchange(topic, aio_pika.ExchangeType.TOPIC, durable=True)
        queue = await channel.declare_queue(exclusive=True)
        await queue.bind(exchange, "instance.#")
        await send()
        async with queue.iterator() as messages:
            async for message in messages:
                await message.ack()
                break
        await exchange.delete()
        return str(message.routing_key), message.body


async def nats(url: str, topic: str, send: Callable[[], Awaitable[None]]) -> Got:
    import nats as client

    await send()
    connection = await client.connect(url)
    stream = connection.jetstream()
    waiting = await stream.subscribe(f"{topic}.>")
    message = await waiting.next_msg(timeout=20)
    await stream.delete_stream(topic.replace(".", "-"))
    await connection.close()
    return message.subject.removeprefix(f"{topic}."), message.data


async def redis(url: str, topic: str, send: Callable[[], Awaitable[None]]) -> Got:
    from redis.asyncio import Redis

    await send()
    connection = Redis.from_url(url)
    rows: Any = await connection.xrange(topic)
    await connection.delete(topic)
    await connection.aclose()
    ((_, found),) = rows
    return found[b"event"].decode(), found[b"body"]


@pytest.mark.parametrize(
    "receive",
    [
        pytest.param(rabbitmq, marks=pytest.mark.service("rabbitmq")),
        pytest.param(nats, marks=pytest.mark.service("nats")),
        pytest.param(redis, marks=pytest.mark.service("redis")),
    ],
)
async def test_an_event_is_at_the_broker_when_it_counts_as_delivered(receive: Any) -> None:
    url, topic = broker_at_hand(receive.__name__), f"test.{uuid4().hex[:12]}"
    outlet = BrokerOutlet(url, name="bus", topic=topic)

    async with asyncio.timeout(60):
        name, body = await receive(url, topic, lambda: outlet.deliver(EVENT))
    await outlet.close()

    assert name == "instance.started"
    assert json.loads(body)["id"] == "i.1.0"


async def test_a_broker_that_is_away_is_tried_again_by_a_new_connection() -> None:
    from redis.exceptions import ConnectionError as Away

    outlet = BrokerOutlet("redis://127.0.0.1:1/0", name="bus")

    for _ in range(2):
        with pytest.raises(Away):
            await outlet.deliver(EVENT)
    await outlet.close()


def test_the_settings_name_outlets() -> None:
    settings = load_settings(
        {
            "event_outlets": "https://u:secret@example.com/hook, amqp://guest:guest@mq/",
            "event_names": "instance.faulted, instance.finished",
        }
    )
    hook, bus = outlets_of(settings)

    assert isinstance(hook, Webhook)
    assert isinstance(bus, BrokerOutlet)
    assert (hook.name, bus.name) == ("https:example.com/hook", "amqp:mq/")
    assert set(bus.events) == {"instance.faulted", "instance.finished"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"event_outlets": "somewhere"}, "is not an address"),
        ({"event_outlets": "ftp://x/y"}, "no outlet delivers to 'ftp://'"),
        ({"event_outlets": "http://x", "event_names": "instance.born"}, "there is no event 'instance.born'"),
    ],
)
def test_what_cannot_be_an_outlet_is_told(given: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        outlets_of(load_settings(given))


async def test_an_application_writes_for_the_outlets_of_its_settings() -> None:
    waits = Workflow(Event("go"), id="waits")
    app = Holdfast(
        store="memory://", workflows=[waits], worker=False, entry_points=False, event_outlets="http://127.0.0.1:1/x"
    )
    async with app:
        await app.runtime.start(waits)

        assert (await app.runtime.store.stats("")).outbox == 3
