"""The long form of the cluster test: three workers on PostgreSQL and RabbitMQ, one of them killed every second, and the broker
restarted in the middle of it.

The broker is one of our own, since it is stopped; where none can be started, the one that is there is cut off on the wire: every
connection to it breaks, and for some seconds nobody answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import msgspec

from holdfast.dispatch import transport_from_url
from holdfast.testing.transport_contract.proxy import Wire
from tests.support.chaos.cluster_chaos import TENANT, Restart, cluster_chaos
from tests.support.chaos.cluster_report import ClusterReport
from tests.support.chaos.cluster_workflows import QUEUE
from tests.support.services.availability import ServiceMissing
from tests.support.services.brokers import PORTS, broker_url
from tests.support.services.postgresql import postgres_database
from tests.support.services.rabbitmq import RabbitServer

CALM_KILLS = 5
AWAY = 2.0
"""Seconds without an answer, where the broker is not ours."""


def cluster_row(instances: int, kills: int) -> dict[str, Any]:
    """One row for chaos.json. Raises `ServiceMissing`."""
    with postgres_database() as url, TemporaryDirectory() as folder:
        found, broker = asyncio.run(_fight(url, Path(folder), instances, kills))
    return {**msgspec.to_builtins(found), "broker": broker, "sound": found.sound, "broken": found.broken}


async def _fight(url: str, folder: Path, instances: int, kills: int) -> tuple[ClusterReport, str]:
    try:
        server = await asyncio.to_thread(RabbitServer().__enter__)
    except ServiceMissing:
        async with _wired() as (address, restart):
            return await _fought(url, folder, instances, kills, address, restart), "cut off"
    try:

        async def restart_it() -> None:
            await asyncio.to_thread(server.restart)

        return await _fought(url, folder, instances, kills, server.url, restart_it), "restarted"
    finally:
        await asyncio.to_thread(server.__exit__)


async def _fought(
    url: str, folder: Path, instances: int, kills: int, transport: str, restart: Restart
) -> ClusterReport:
    return await cluster_chaos(
        url,
        folder,
        instances=instances,
        kills=kills,
        transport=transport,
        restart_broker=restart,
        calm_kills=CALM_KILLS,
    )


@asynccontextmanager
async def _wired() -> AsyncIterator[tuple[str, Restart]]:
    broker = broker_url("rabbitmq")
    wire = await Wire.to(broker, PORTS["rabbitmq"])
    address = f"{wire.url(broker)}?prefix=chaos{uuid4().hex[:8]}"

    async def cut() -> None:
        await wire.down()
        await asyncio.sleep(AWAY)
        await wire.up()

    try:
        yield address, cut
    finally:
        await _tidy_up(address)
        await wire.close()


async def _tidy_up(address: str) -> None:
    transport = transport_from_url(address)
    await transport.open()
    for queue in ("default", QUEUE):
        await transport.delete_queue(f"{queue}@{TENANT}")
    await transport.close()
