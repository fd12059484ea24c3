"""Contract of shutdown: unsettled deliveries, consumers and transports end without losing tickets; and dead letters."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from holdfast.errors import DelayUnsupported, TransportClosed
from holdfast.model.ticket import Ticket, encode_ticket
from holdfast.ports import Poisoned, Transport, TransportEvent
from holdfast.testing.transport_contract.base import (
    Plant,
    TransportTests,
    next_of,
    numbers,
    step,
    steps,
    take,
    take_all,
)


class ShutdownContract(TransportTests):
    async def test_unsettled_deliveries_are_returned_when_the_block_ends(
        self, transport: Transport, another: Transport, queue: str
    ) -> None:
        await transport.publish(queue, steps(8))
        async with transport.consume([queue], prefetch=5) as consumer:
            held = await take(consumer, 3)
            await held[0].ack()

        async with another.consume([queue]) as consumer:
            assert sorted(map(int, map(str, await take_all(consumer, set(range(1, 8)))))) == list(range(1, 8))
        await held[1].ack()

    async def test_an_error_in_the_block_gives_back_too(self, transport: Transport, queue: str) -> None:
        async def fail() -> None:
            async with transport.consume([queue]) as consumer:
                await take(consumer)
                raise RuntimeError("of the worker")

        await transport.publish(queue, [step(1)])
        with pytest.raises(RuntimeError, match="worker"):
            await fail()

        assert (await next_of(transport, queue)).ticket.execution == 1

    async def test_a_stopped_consumer_may_settle_its_deliveries(
        self, transport: Transport, another: Transport, queue: str
    ) -> None:
        await transport.publish(queue, steps(6))
        async with transport.consume([queue], prefetch=4) as consumer:
            held = await take(consumer, 2)
            await consumer.stop()
            with pytest.raises(StopAsyncIteration):
                await anext(consumer)
            async with another.consume([queue]) as heir:
                assert sorted(map(str, await take_all(heir, {2, 3, 4, 5}))) == ["2", "3", "4", "5"]
            for delivery in held:
                await delivery.ack()
            await consumer.stop()
        await transport.publish(queue, [step(9)])

        assert (await next_of(transport, queue)).ticket.execution == 9

    async def test_stopping_ends_a_pending_wait(self, transport: Transport, queue: str) -> None:
        async with transport.consume([queue]) as consumer:
            waiting = asyncio.ensure_future(anext(consumer, None))
            await asyncio.sleep(0)
            await consumer.stop()

            assert await waiting is None

    async def test_a_closed_transport_does_nothing_and_says_why(self, transport: Transport, queue: str) -> None:
        await transport.close()
        await transport.close()

        with pytest.raises(TransportClosed, match="not open"):
            await transport.publish(queue, [step(1)])
        with pytest.raises(TransportClosed, match="not open"):
            async with transport.consume([queue]):
                pass
        await transport.open()
        await transport.publish(queue, [step(1)])
        assert (await next_of(transport, queue)).ticket.execution == 1

    async def test_closing_waits_for_what_is_being_published_and_ends_consumers(
        self, transport: Transport, queue: str
    ) -> None:
        async with transport.consume([queue], prefetch=5) as consumer:
            publishing = asyncio.create_task(transport.publish(queue, steps(300)))
            await take(consumer, 1)
            await transport.close()
            assert publishing.done()
            await publishing
            with pytest.raises(StopAsyncIteration):
                await anext(consumer)
        await transport.open()

        async with transport.consume([queue], prefetch=50) as consumer:
            await take_all(consumer, set(range(300)))

    # -- dead letters --------------------------------------------------------------------------------------------------

    async def test_a_rejected_ticket_is_a_dead_letter_with_its_reason(self, transport: Transport, queue: str) -> None:
        await transport.publish(queue, steps(3))
        async with transport.consume([queue]) as consumer:
            for delivery in await take(consumer, 3):
                await delivery.reject(f"no code for {delivery.ticket.execution}")
        await transport.publish(queue, [step(9)])

        assert (await next_of(transport, queue)).ticket.execution == 9
        for _ in range(2):  # reading does not remove them
            dead = await transport.dead_letters(queue)
            assert [(one.queue, one.data, one.reason) for one in dead] == [
                (queue, encode_ticket(step(number)), f"no code for {number}") for number in range(3)
            ]
        assert len(await transport.dead_letters(queue, limit=2)) == 2

    async def test_an_invalid_message_becomes_a_dead_letter_and_is_reported(
        self, transport: Transport, queue: str, plant: Plant, told: list[TransportEvent]
    ) -> None:
        poison = [b"", b"\xff\x00", b"[]", b'{"ticket": 2, "execution": 1}', b'{"ticket": 1}', b"x" * 20_000]
        await transport.publish(queue, [step(1)])
        for data in poison:
            await plant(queue, data)
        await transport.publish(queue, [step(2)])

        async with transport.consume([queue], prefetch=1) as consumer:
            assert await take_all(consumer, {1, 2}) == [1, 2]

        assert [one.data for one in await transport.dead_letters(queue)] == poison
        assert [event.data for event in told if isinstance(event, Poisoned)] == poison
        assert all(event.queue == queue for event in told if isinstance(event, Poisoned))
        await transport.publish(queue, [step(3)])
        assert (await next_of(transport, queue)).ticket.execution == 3
        assert sum(isinstance(event, Poisoned) for event in told) == len(poison)

    async def test_unknown_fields_of_a_newer_version_are_ignored(
        self, transport: Transport, queue: str, plant: Plant
    ) -> None:
        await plant(queue, b'{"ticket": 1, "instance_id": "i", "execution": 4, "color": "blue"}')

        assert (await next_of(transport, queue)).ticket == Ticket(instance_id="i", execution=4)

    async def test_a_deleted_queue_is_empty_and_can_be_used_again(self, transport: Transport, queue: str) -> None:
        await transport.publish(queue, steps(2))
        async with transport.consume([queue]) as consumer:
            await (await take(consumer))[0].reject("bad")
        await transport.delete_queue(queue)
        await transport.delete_queue(queue)
        await transport.publish(queue, [step(9)])

        assert (await next_of(transport, queue)).ticket.execution == 9
        assert not await transport.dead_letters(queue)

    async def deletion_noticed(self, told: list[TransportEvent]) -> None:
        """Override it for a broker that needs time between the deletion of a queue and its recreation."""

    async def test_a_queue_that_is_deleted_under_a_consumer_is_made_again(
        self, transport: Transport, another: Transport, queue: str, told: list[TransportEvent]
    ) -> None:
        async with transport.consume([queue]) as consumer:
            await another.publish(queue, [step(1)])
            await take_all(consumer, {1})
            await another.delete_queue(queue)
            await self.deletion_noticed(told)
            await another.publish(queue, [step(2)])

            assert 2 in await take_all(consumer, {2})

    # -- delays --------------------------------------------------------------------------------------------------------

    async def test_a_delay_is_kept_or_refused(self, transport: Transport, queue: str) -> None:
        """A transport with delays delivers in order of the due times, and not before."""
        if not transport.can_schedule:
            with pytest.raises(DelayUnsupported, match="work table"):
                await transport.schedule(queue, step(1), timedelta(seconds=1))
            return
        clock = asyncio.get_running_loop().time
        async with transport.consume([queue], prefetch=3) as consumer:
            started = clock()
            await transport.schedule(queue, step(2), timedelta(milliseconds=700))
            await transport.schedule(queue, step(1), timedelta(milliseconds=300))
            await transport.schedule(queue, step(0), timedelta(0))
            found = await take(consumer, 3)
            passed = clock() - started
            for delivery in found:
                await delivery.ack()

        assert numbers(found) == [0, 1, 2]
        assert passed >= 0.7
