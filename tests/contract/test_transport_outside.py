"""A transport from outside the tree: found by its entry point, held to the same contract by its own tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

MODULE = '''
"""A third-party transport: lists in memory, polled."""
import asyncio
from contextlib import asynccontextmanager

from holdfast.errors import DelayUnsupported, TransportClosed, UnreadableTicket
from holdfast.model.ticket import checked_queue, decode_ticket, encode_ticket
from holdfast.ports import DeadTicket, Poisoned

WAITING, DEAD = {}, {}


class Delivery:
    def __init__(self, consumer, queue, data, redelivered):
        self.consumer, self.queue, self.data, self.redelivered = consumer, queue, data, redelivered
        self.ticket = decode_ticket(data)

    def let_go(self):
        held = self in self.consumer.held
        self.consumer.held.discard(self)
        return held

    async def ack(self):
        self.let_go()

    async def nack(self, *, requeue=True):
        if self.let_go() and requeue:
            WAITING.setdefault(self.queue, []).append((self.data, True))

    async def reject(self, reason):
        if self.let_go():
            DEAD.setdefault(self.queue, []).append(DeadTicket(queue=self.queue, data=self.data, reason=reason))


class Consumer:
    def __init__(self, queues, prefetch, listener):
        if not queues or prefetch < 1:
            raise ValueError("at least one queue, prefetch of 1 or more")
        self.queues, self.prefetch, self.listener = [checked_queue(queue) for queue in queues], prefetch, listener
        self.held, self.stopped = set(), False

    def __aiter__(self):
        return self

    async def stop(self):
        self.stopped = True

    async def __anext__(self):
        while not self.stopped:
            for queue in self.queues:
                while WAITING.get(queue) and sum(one.queue == queue for one in self.held) < self.prefetch:
                    data, redelivered = WAITING[queue].pop(0)
                    try:
                        delivery = Delivery(self, queue, data, redelivered)
                    except UnreadableTicket as error:
                        DEAD.setdefault(queue, []).append(DeadTicket(queue=queue, data=data, reason=str(error)))
                        self.listener(Poisoned(transport="outside", queue=queue, data=data, reason=str(error)))
                        continue
                    self.held.add(delivery)
                    return delivery
            await asyncio.sleep(0.001)
        raise StopAsyncIteration


class OutsideTransport:
    name, can_schedule, can_prioritize = "outside", False, False

    def __init__(self, url, listener=lambda event: None):
        self.listener, self.is_open, self.consumers = listener, False, set()

    async def open(self):
        self.is_open = True

    async def close(self):
        self.is_open = False
        for consumer in self.consumers:
            await consumer.stop()

    async def publish(self, queue, tickets):
        checked_queue(queue)
        messages = [(encode_ticket(ticket), False) for ticket in tickets]
        if not self.is_open:
            raise TransportClosed("not open: await open() first")
        WAITING.setdefault(queue, []).extend(messages)

    async def schedule(self, queue, ticket, delay):
        raise DelayUnsupported(self.name)

    def consume(self, queues, prefetch=16):
        return self.consuming(Consumer(queues, prefetch, self.listener))

    @asynccontextmanager
    async def consuming(self, consumer):
        if not self.is_open:
            raise TransportClosed("not open: await open() first")
        self.consumers.add(consumer)
        try:
            yield consumer
        finally:
            await consumer.stop()
            for delivery in list(consumer.held):
                await delivery.nack()
            self.consumers.discard(consumer)

    async def dead_letters(self, queue, limit=100):
        return DEAD.get(queue, [])[:limit]

    async def delete_queue(self, queue):
        WAITING.pop(checked_queue(queue), None), DEAD.pop(queue, None)
'''

TESTS = """
import pytest
from outside_transport import WAITING
from holdfast.dispatch import transport_from_url
from holdfast.testing.transport_contract import TransportContract


class TestOutsideTransport(TransportContract):
    @pytest.fixture
    async def transport(self, told):
        transport = transport_from_url("outside://anywhere", listener=told.append)
        assert type(transport).__module__ == "outside_transport"
        await transport.open()
        yield transport
        await transport.close()

    @pytest.fixture
    async def plant(self):
        async def write(queue, data):
            WAITING.setdefault(queue, []).append((data, False))

        return write
"""


def test_the_contract_runs_on_a_transport_from_outside(tmp_path: Path) -> None:
    (tmp_path / "outside_transport.py").write_text(MODULE)
    (tmp_path / "test_outside_transport.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    package = tmp_path / "outside_transport-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: outside-transport\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[holdfast.transports]\noutside = outside_transport:OutsideTransport\n")

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )

    assert ran.returncode == 0, ran.stdout
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed is not None
    assert int(passed[1]) > 30
