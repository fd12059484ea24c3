"""Contract of delivery: each published ticket reaches one consumer until it is settled."""

from __future__ import annotations

import asyncio

import pytest

from holdfast.errors import InvalidId, UnreadableTicket
from holdfast.model.ticket import TICKET_BYTES_MAX, Ticket
from holdfast.ports import Transport
from holdfast.testing.transport_contract.base import (
    TransportTests,
    next_of,
    numbers,
    step,
    steps,
    take,
    take_all,
)


class DeliveryContract(TransportTests):
    async def test_a_ticket_comes_out_as_it_went_in(self, transport: Transport, queue: str) -> None:
        sent = Ticket(
            tenant="größe",
            instance_id="order-1",
            execution=7,
            attempt=3,
            content="c0ffee",
            queue=queue,
            priority=2,
            principal="anna@example.com",
            trace="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        )
        await transport.publish(queue, [sent])

        delivery = await next_of(transport, queue)

        assert delivery.ticket == sent
        assert delivery.queue == queue

    async def test_all_that_is_published_arrives_in_order(self, transport: Transport, queue: str) -> None:
        await transport.publish(queue, steps(40))
        await transport.publish(queue, [])

        async with transport.consume([queue], prefetch=64) as consumer:
            assert numbers(await take(consumer, 40)) == list(range(40))

    async def test_a_consumer_that_waits_gets_what_comes_later(
        self, transport: Transport, another: Transport, queue: str
    ) -> None:
        async with transport.consume([queue]) as consumer:
            waiting = asyncio.create_task(take(consumer))
            await another.publish(queue, [step(5)])

            assert numbers(await waiting) == [5]

    async def test_each_ticket_goes_to_one_of_several_consumers(
        self, transport: Transport, another: Transport, queue: str
    ) -> None:
        seen: list[int | None] = []
        done = asyncio.Event()

        async def work(node: Transport) -> None:
            async with node.consume([queue], prefetch=3) as consumer:
                ended = asyncio.create_task(_stop_when(done, consumer))
                async for delivery in consumer:
                    seen.append(delivery.ticket.execution)
                    await delivery.ack()
                    if len(seen) >= 60:
                        done.set()
                await ended

        await transport.publish(queue, steps(60))
        async with asyncio.timeout(60):
            await asyncio.gather(work(transport), work(another), work(transport))

        assert sorted(map(int, map(str, seen))) == list(range(60))

    async def test_queues_do_not_mix(self, transport: Transport, queue: str, other_queue: str) -> None:
        await transport.publish(queue, [step(1)])
        await transport.publish(other_queue, [step(2)])

        assert (await next_of(transport, other_queue)).ticket.execution == 2
        assert (await next_of(transport, queue)).ticket.execution == 1

    async def test_one_consumer_serves_several_queues(self, transport: Transport, queue: str, other_queue: str) -> None:
        await transport.publish(queue, [step(1)])
        await transport.publish(other_queue, [step(2)])

        async with transport.consume([queue, other_queue], prefetch=1) as consumer:
            found = await take(consumer, 2)

        assert {(one.queue, one.ticket.execution) for one in found} == {(queue, 1), (other_queue, 2)}

    async def test_tickets_of_the_same_moment_on_several_queues_are_told_apart(
        self, transport: Transport, queue: str, other_queue: str
    ) -> None:
        async with transport.consume([queue, other_queue], prefetch=40) as consumer:
            await asyncio.gather(*(transport.publish(queue, [step(number)]) for number in range(20)))
            await asyncio.gather(
                *(transport.publish(name, [step(number)]) for number in range(20, 40) for name in (queue, other_queue))
            )
            found = await take(consumer, 60)

        assert sorted((one.queue, one.ticket.execution or 0) for one in found) == sorted(
            [(queue, number) for number in range(40)] + [(other_queue, number) for number in range(20, 40)]
        )

    async def test_an_acked_ticket_is_gone(self, transport: Transport, queue: str) -> None:
        await transport.publish(queue, steps(3))
        async with transport.consume([queue]) as consumer:
            await take_all(consumer, {0, 1, 2})
        await transport.publish(queue, [step(9)])

        assert (await next_of(transport, queue)).ticket.execution == 9

    async def test_a_nacked_ticket_is_redelivered(self, transport: Transport, queue: str) -> None:
        await transport.publish(queue, [step(1)])
        async with transport.consume([queue], prefetch=1) as consumer:
            first = (await take(consumer))[0]
            await first.nack()
            again = (await take(consumer))[0]
            await again.ack()

        assert (first.ticket, first.redelivered) == (step(1), False)
        assert (again.ticket, again.redelivered) == (step(1), True)

    async def test_a_ticket_nacked_without_requeue_is_dropped(self, transport: Transport, queue: str) -> None:
        await transport.publish(queue, [step(1)])
        async with transport.consume([queue]) as consumer:
            await (await take(consumer))[0].nack(requeue=False)
        await transport.publish(queue, [step(9)])

        assert (await next_of(transport, queue)).ticket.execution == 9
        assert not await transport.dead_letters(queue)

    async def test_only_the_first_settling_counts(self, transport: Transport, queue: str) -> None:
        await transport.publish(queue, [step(1)])
        async with transport.consume([queue]) as consumer:
            delivery = (await take(consumer))[0]
            await delivery.ack()
            await delivery.nack()
            await delivery.reject("too late")
            await delivery.ack()
        await transport.publish(queue, [step(9)])

        assert (await next_of(transport, queue)).ticket.execution == 9
        assert not await transport.dead_letters(queue)

    async def test_a_consumer_fetches_at_most_prefetch_tickets(
        self, transport: Transport, another: Transport, queue: str
    ) -> None:
        """The first consumer holds three tickets and settles none, so all others are free for the second."""
        await transport.publish(queue, steps(10))
        async with transport.consume([queue], prefetch=3) as greedy:
            mine = await take(greedy, 3)
            async with another.consume([queue], prefetch=10) as free:
                others = await take(free, 7)
                for delivery in (*mine, *others):
                    await delivery.ack()

        assert sorted(map(str, numbers(mine) + numbers(others))) == sorted(map(str, range(10)))

    async def test_settling_makes_room(self, transport: Transport, queue: str) -> None:
        await transport.publish(queue, steps(30))
        async with transport.consume([queue], prefetch=1) as consumer:
            assert await take_all(consumer, set(range(30))) == list(range(30))

    async def test_priority_goes_first_where_it_can(self, transport: Transport, queue: str) -> None:
        """A transport without priorities keeps the order."""
        await transport.publish(queue, [step(1), step(2, priority=5), step(3), step(4, priority=9)])

        async with transport.consume([queue]) as consumer:
            found = numbers(await take(consumer, 4))

        assert found == ([4, 2, 1, 3] if transport.can_prioritize else [1, 2, 3, 4])

    @pytest.mark.parametrize("name", ["", "a b", "a/b", "a@b@c", "@acme", "a*", "x" * 65])
    async def test_names_that_are_no_queues_are_refused(self, transport: Transport, name: str) -> None:
        with pytest.raises(InvalidId):
            await transport.publish(name, [step(1)])
        with pytest.raises(InvalidId):
            transport.consume([name])
        with pytest.raises(InvalidId):
            await transport.delete_queue(name)

    @pytest.mark.parametrize(
        "ticket", [Ticket(), Ticket(execution=1), Ticket(work_id="w", principal="x" * TICKET_BYTES_MAX)]
    )
    async def test_an_unusable_ticket_is_refused(self, transport: Transport, queue: str, ticket: Ticket) -> None:
        with pytest.raises(UnreadableTicket):
            await transport.publish(queue, [ticket])

    async def test_consuming_nothing_is_refused(self, transport: Transport, queue: str) -> None:
        with pytest.raises(ValueError, match="at least one queue"):
            transport.consume([])
        with pytest.raises(ValueError, match="prefetch"):
            transport.consume([queue], prefetch=0)


async def _stop_when(done: asyncio.Event, consumer: object) -> None:
    await done.wait()
    await consumer.stop()  # type: ignore[attr-defined]  # a Consumer; the protocol is also an iterator
