"""Contract of broken connections: work is delayed, never lost.

For brokers with an address: provide the fixtures `wire` (see `Wire.to`) and `transport` over it. `another` has a
separate connection, which does not break.
"""

from __future__ import annotations

import asyncio

import pytest

from holdfast.errors import TransportUnavailable
from holdfast.ports import Disconnected, Reconnected, Transport, TransportEvent
from holdfast.testing.transport_contract.base import TransportTests, next_of, step, steps, take, take_all, until
from holdfast.testing.transport_contract.proxy import Wire


class WireContract(TransportTests):
    @pytest.fixture
    async def wire(self) -> Wire:
        raise NotImplementedError("provide the fixture `wire`")

    async def test_a_consumer_continues_after_a_cut_and_the_listener_is_notified(
        self, transport: Transport, another: Transport, queue: str, wire: Wire, told: list[TransportEvent]
    ) -> None:
        async with transport.consume([queue]) as consumer:
            await another.publish(queue, [step(1)])
            await take_all(consumer, {1})
            wire.cut()
            await another.publish(queue, [step(2)])

            await take_all(consumer, {2})
            await until(lambda: any(isinstance(event, Reconnected) for event in told))

        assert wire.cuts
        assert [type(event) for event in told[:2]] == [Disconnected, Reconnected]

    async def test_a_consumer_survives_a_broker_outage(
        self, transport: Transport, another: Transport, queue: str, wire: Wire, told: list[TransportEvent]
    ) -> None:
        async with transport.consume([queue]) as consumer:
            await another.publish(queue, [step(1)])
            await take_all(consumer, {1})
            await wire.down()
            await until(lambda: any(isinstance(event, Disconnected) for event in told))
            await another.publish(queue, [step(2)])
            await wire.up()

            await take_all(consumer, {2})

    async def test_deliveries_in_hand_at_a_cut_are_settled_or_come_again(
        self, transport: Transport, another: Transport, queue: str, wire: Wire
    ) -> None:
        await another.publish(queue, steps(10))
        async with transport.consume([queue], prefetch=6) as consumer:
            held = await take(consumer, 4)
            await held[0].ack()
            wire.cut()
            for delivery in held[1:]:
                await delivery.nack()

            await take_all(consumer, set(range(1, 10)))

    async def test_publishing_continues_after_a_cut(self, transport: Transport, queue: str, wire: Wire) -> None:
        await transport.publish(queue, [step(1)])
        wire.cut()
        await transport.publish(queue, [step(2)])

        async with transport.consume([queue]) as consumer:
            await take_all(consumer, {1, 2})

    async def test_a_cut_in_the_middle_of_publishing_loses_nothing(
        self, transport: Transport, another: Transport, queue: str, wire: Wire
    ) -> None:
        async with another.consume([queue], prefetch=100) as consumer:
            publishing = asyncio.create_task(transport.publish(queue, steps(600)))
            first = (await take(consumer))[0]
            wire.cut()
            await first.ack()
            await publishing

            await take_all(consumer, set(range(600)) - {first.ticket.execution})

    async def test_a_publisher_times_out_and_can_continue_later(
        self, transport: Transport, queue: str, wire: Wire
    ) -> None:
        await transport.publish(queue, [step(1)])
        await wire.down()
        with pytest.raises(TransportUnavailable, match="did not answer") as raised:
            await transport.publish(queue, [step(2)])
        await wire.up()
        await transport.publish(queue, [step(3)])

        assert "Check that it runs" in str(raised.value)
        async with transport.consume([queue]) as consumer:
            await take_all(consumer, {1, 3})

    async def test_opening_without_a_broker_fails_and_can_be_retried(
        self, transport: Transport, queue: str, wire: Wire
    ) -> None:
        await transport.close()
        await wire.down()
        with pytest.raises(TransportUnavailable, match=r"127\.0\.0\.1"):
            await transport.open()
        await wire.up()
        await transport.open()
        await transport.publish(queue, [step(1)])

        assert (await next_of(transport, queue)).ticket.execution == 1

    async def test_a_transport_closes_while_the_broker_is_away(
        self, transport: Transport, queue: str, wire: Wire, told: list[TransportEvent]
    ) -> None:
        async with transport.consume([queue]) as consumer:
            await wire.down()
            await until(lambda: any(isinstance(event, Disconnected) for event in told))
            await transport.close()
            with pytest.raises(StopAsyncIteration):
                await anext(consumer)
        await wire.up()
        await transport.open()

    async def test_a_wire_that_breaks_again_and_again(
        self, transport: Transport, another: Transport, queue: str, wire: Wire
    ) -> None:
        """A cut every twenty deliveries, while both ends work."""
        everything = set(range(200))

        async def publish() -> None:
            for number in sorted(everything):
                await transport.publish(queue, [step(number)])

        seen: set[int | None] = set()
        publishing = asyncio.create_task(publish())
        async with transport.consume([queue], prefetch=8) as consumer:
            while not everything <= seen:
                delivery = (await take(consumer))[0]
                before = len(seen)
                seen.add(delivery.ticket.execution)
                await delivery.ack()
                if len(seen) > before and not len(seen) % 20:
                    wire.cut()
        await publishing

        assert wire.cuts >= 10
