"""Brokers that are killed and restarted, with and without their data. The tests start their own servers from PATH."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from holdfast.dispatch import transport_from_url
from holdfast.errors import TransportMisconfigured
from holdfast.ports import Disconnected, Transport, TransportEvent
from holdfast.testing.transport_contract.base import WITHIN, step, steps, take, take_all, until
from tests.support.services.availability import Needed, ServiceMissing


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


class Server:
    """A server process on its own port. `kill` ends it without a shutdown."""

    def __init__(self, program: str, *arguments: str) -> None:
        # Debian installs servers in directories that are only on the PATH of root.
        path = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
        service = program.partition("-")[0]
        if path is None:
            with Needed(service):
                raise ServiceMissing(f"{program} is not on PATH")
        self.port = free_port()
        self._command = [path or program, *(part.format(port=self.port) for part in arguments)]
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        nowhere = asyncio.subprocess.DEVNULL
        self._process = await asyncio.create_subprocess_exec(*self._command, stdout=nowhere, stderr=nowhere)
        async with asyncio.timeout(WITHIN.total_seconds()):
            while not await self._answers():  # noqa: ASYNC110 - a server sends no event when it is up
                await asyncio.sleep(0.02)

    async def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            await self._process.wait()
            self._process = None

    async def _answers(self) -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        writer.close()
        await writer.wait_closed()
        return True


@pytest.fixture
async def nats_server(tmp_path: Path) -> AsyncIterator[Server]:
    pytest.importorskip("nats", reason="nats: no driver")
    server = Server("nats-server", "-a", "127.0.0.1", "-p", "{port}", "-js", "-sd", str(tmp_path))
    await server.start()
    yield server
    await server.kill()


@pytest.fixture
async def redis_server() -> AsyncIterator[Server]:
    pytest.importorskip("redis", reason="redis: no driver")
    server = Server("redis-server", "--bind", "127.0.0.1", "--port", "{port}", "--save", "", "--appendonly", "no")
    await server.start()
    yield server
    await server.kill()


async def opened(url: str, told: list[TransportEvent]) -> Transport:
    transport = transport_from_url(url, listener=told.append)
    await transport.open()
    return transport


async def test_a_durable_broker_that_was_killed_has_what_it_confirmed(nats_server: Server) -> None:
    told: list[TransportEvent] = []
    transport = await opened(f"nats://127.0.0.1:{nats_server.port}?hold=2", told)
    async with transport.consume(["q"], prefetch=4) as consumer:
        await transport.publish("q", steps(20))
        held = await take(consumer, 2)
        await nats_server.kill()
        await until(lambda: any(isinstance(event, Disconnected) for event in told))
        publishing = asyncio.create_task(transport.publish("q", [step(20)]))
        await nats_server.start()
        await publishing
        for delivery in held:
            await delivery.nack()

        await take_all(consumer, set(range(21)))
    await transport.close()


async def test_a_broker_that_lost_its_data_is_used_again(redis_server: Server) -> None:
    told: list[TransportEvent] = []
    transport = await opened(f"redis://127.0.0.1:{redis_server.port}?hold=2", told)
    async with transport.consume(["q"]) as consumer:
        await transport.publish("q", [step(1)])
        await take_all(consumer, {1})
        await redis_server.kill()
        await until(lambda: any(isinstance(event, Disconnected) for event in told))
        await redis_server.start()
        await transport.publish("q", [step(2)])

        await take_all(consumer, {2})
    await transport.close()


async def test_a_nats_server_without_jetstream_is_refused() -> None:
    pytest.importorskip("nats", reason="nats: no driver")
    server = Server("nats-server", "-a", "127.0.0.1", "-p", "{port}")
    await server.start()
    try:
        with pytest.raises(TransportMisconfigured, match="nats-server -js"):
            await opened(f"nats://127.0.0.1:{server.port}", [])
    finally:
        await server.kill()


async def test_wrong_nats_credentials_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("nats", reason="nats: no driver")
    server = Server(
        "nats-server", "-a", "127.0.0.1", "-p", "{port}", "-js", "-sd", str(tmp_path), "--user", "me", "--pass", "right"
    )
    await server.start()
    try:
        with pytest.raises(TransportMisconfigured, match="Check user, password") as told:
            await opened(f"nats://me:wrong@127.0.0.1:{server.port}", [])
        assert "wrong" not in str(told.value)
        transport = await opened(f"nats://me:right@127.0.0.1:{server.port}", [])
        await transport.close()
    finally:
        await server.kill()
