"""The in-process transport: buses by name, events for a listener, tickets of steps."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

import pytest

from holdfast.dispatch import TransportSteps, ticket_of, transport_from_url
from holdfast.dispatch.local import LocalBus, LocalTransport, QueuedMessage
from holdfast.dispatch.rabbitmq import rounded_up
from holdfast.errors import TransportClosed
from holdfast.model.ticket import DefinitionRef, Ticket
from holdfast.model.work import EffectRow
from holdfast.ports import StepDispatcher, Transport, TransportEvent
from holdfast.runtime.clock import SystemClock
from holdfast.testing.transport_contract.base import next_of, step, take


async def opened(url: str) -> Transport:
    transport = transport_from_url(url)
    await transport.open()
    return transport


async def test_transports_share_a_bus_by_its_name() -> None:
    one, two, other, alone, apart = [
        await opened(url) for url in ("local://a", "local://a", "local://a?prefix=x", "local://", "local://")
    ]
    for number, transport in enumerate((one, other, alone)):
        await transport.publish("q", [step(number)])
    await apart.publish("q", [step(9)])

    assert (await next_of(two, "q")).ticket.execution == 0
    assert (await next_of(apart, "q")).ticket.execution == 9


async def test_a_listener_that_fails_does_not_stop_the_work(caplog: pytest.LogCaptureFixture) -> None:
    def listener(event: TransportEvent) -> None:
        raise RuntimeError("deaf")

    bus = LocalBus()
    transport = LocalTransport(bus, listener=listener)
    await transport.open()
    bus.put("q", QueuedMessage(0, b"poison"))
    bus.put("q", QueuedMessage(0, b'{"ticket": 1, "work_id": "w"}'))

    assert (await next_of(transport, "q")).ticket == Ticket(work_id="w")
    assert "deaf" in caplog.text


async def test_without_a_listener_poison_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    bus = LocalBus()
    transport = LocalTransport(bus)
    await transport.open()
    bus.put("q", QueuedMessage(0, b"poison"))
    bus.put("q", QueuedMessage(0, b'{"ticket": 1, "work_id": "w"}'))
    with caplog.at_level(logging.WARNING, "holdfast.dispatch"):
        await next_of(transport, "q")

    assert "queue 'q': a message was moved to the dead letters" in caplog.text


def test_a_transport_belongs_to_its_event_loop() -> None:
    transport = asyncio.run(opened("local://"))

    with pytest.raises(TransportClosed, match="another event loop"):
        asyncio.run(transport.publish("q", [step(1)]))


async def test_a_deleted_queue_drops_its_delayed_messages() -> None:
    transport = await opened("local://")
    async with transport.consume(["q"]) as consumer:
        await transport.schedule("q", step(1), timedelta(milliseconds=20))
        await transport.delete_queue("q")
        await transport.schedule("q", step(2), timedelta(milliseconds=40))

        assert (await take(consumer))[0].ticket.execution == 2


@pytest.mark.parametrize(
    ("delay", "milliseconds"),
    [
        (0.0001, 1),
        (0.001, 1),
        (0.0994, 100),
        (1.5, 1500),
        (1.501, 1600),
        (61.0, 61_000),
        (61.2, 62_000),
        (3600, 3_600_000),
    ],
)
def test_delays_are_rounded_up_to_two_digits(delay: float, milliseconds: int) -> None:
    assert rounded_up(timedelta(seconds=delay)) == milliseconds


class Instance:
    tenant = "acme"
    instance_id = "order-1"
    principal = "anna"
    priority = 7
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    trigger_data: object = {"card": "4111"}


STEP = EffectRow(
    tenant="acme",
    instance_id="order-1",
    execution=3,
    attempt=2,
    activity_id="charge",
    type="charge",
    queue="cpu",
    created=SystemClock().now(),
    inputs=b"secret",
)
DEFINITION = DefinitionRef("fulfil", 4, "c0ffee")


def test_the_ticket_of_a_step_holds_ids_only() -> None:
    assert ticket_of(Instance(), DEFINITION, STEP) == Ticket(
        tenant="acme",
        instance_id="order-1",
        execution=3,
        attempt=2,
        content="c0ffee",
        queue="cpu",
        priority=7,
        principal="anna",
        trace=Instance.trace,
    )


async def test_steps_are_published_at_once_or_with_a_delay() -> None:
    transport = await opened("local://")
    steps: StepDispatcher = TransportSteps(transport)

    assert await steps.enqueue_step(Instance(), DEFINITION, STEP) is None
    assert (await next_of(transport, "cpu")).ticket.attempt == 2
    assert await steps.schedule_step(Instance(), DEFINITION, STEP, timedelta(milliseconds=10)) is None
    assert (await next_of(transport, "cpu")).ticket.execution == 3
