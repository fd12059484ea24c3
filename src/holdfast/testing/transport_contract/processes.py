"""Contract of processes that die while they hold tickets.

For brokers with an address: provide the fixture `url`, with a `hold` of about two seconds.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from holdfast.dispatch import transport_from_url
from holdfast.ports import Transport
from holdfast.testing.transport_contract.base import WITHIN, TransportTests, numbers, steps, take, take_all


async def hold(url: str, queue: str, number: int) -> None:
    """Take that many deliveries, settle none, print their numbers, and wait to be killed."""
    transport = transport_from_url(url)
    await transport.open()
    async with transport.consume([queue], prefetch=number) as consumer:
        held = [await anext(consumer) for _ in range(number)]
        sys.stdout.write(json.dumps(numbers(held)) + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


@asynccontextmanager
async def holder(url: str, queue: str, number: int) -> AsyncIterator[tuple[Process, list[int]]]:
    """A process that holds deliveries; it is killed when the block ends, if not before."""
    program = f"from {__name__} import main; main()"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, url, queue, str(number), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(WITHIN.total_seconds()):
            yield process, json.loads(await process.stdout.readline())
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


class TransportProcessContract(TransportTests):
    @pytest.fixture
    def url(self) -> str:
        raise NotImplementedError("provide the fixture `url`")

    async def test_tickets_of_a_killed_process_are_redelivered(
        self, transport: Transport, queue: str, url: str
    ) -> None:
        await transport.publish(queue, steps(12))
        async with holder(url, queue, 5) as (process, held), transport.consume([queue], prefetch=3) as consumer:
            rest = await take_all(consumer, set(range(12)) - set(held))
            process.kill()

            assert not set(rest) & set(held)
            await take_all(consumer, set(held))

    async def test_a_ticket_of_a_live_consumer_is_not_redelivered(
        self, transport: Transport, another: Transport, queue: str, url: str
    ) -> None:
        """Two consumers hold a ticket each. Only the ticket of the killed one is redelivered."""
        await transport.publish(queue, steps(2))
        async with transport.consume([queue], prefetch=1) as living:
            mine = (await take(living))[0]
            async with holder(url, queue, 1) as (process, held):
                process.kill()
                async with another.consume([queue], prefetch=2) as heir:
                    assert await take_all(heir, set(held)) == held
            await mine.ack()
            assert {mine.ticket.execution, *held} == {0, 1}

    async def test_published_tickets_outlive_their_publisher(
        self, transport: Transport, another: Transport, queue: str
    ) -> None:
        await transport.publish(queue, steps(3))
        await transport.close()

        async with another.consume([queue]) as consumer:
            await take_all(consumer, {0, 1, 2})
        await transport.open()


def main() -> None:
    asyncio.run(hold(sys.argv[1], sys.argv[2], int(sys.argv[3])))
