"""The long form of the cluster test: three workers on PostgreSQL and RabbitMQ, killed every second; the broker goes away once.

The broker's restart is made on the wire: every connection to it breaks, and for two seconds nobody is there. Which is what a
restart looks like to a worker; the broker itself is not ours to end.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import msgspec

from holdfast.dispatch import transport_from_url
from holdfast.testing.cluster_chaos import ClusterReport, cluster_chaos
from holdfast.testing.cluster_work import QUEUE
from holdfast.testing.servers import postgres_database
from holdfast.testing.transport_contract.broken_wire import Wire
from holdfast.testing.transport_contract.services import PORTS, broker_url

AWAY = 2.0
"""Seconds without a broker."""


def cluster_row(instances: int, kills: int) -> dict[str, Any]:
    """One row for chaos.json. Raises `ServiceMissing`."""
    broker = broker_url("rabbitmq")
    with postgres_database() as url, TemporaryDirectory() as folder:
        report = asyncio.run(_fight(url, broker, Path(folder), instances, kills))
    return {**msgspec.to_builtins(report), "sound": report.sound, "broken": [] if report.sound else [str(report)]}


async def _fight(url: str, broker: str, folder: Path, instances: int, kills: int) -> ClusterReport:
    wire = await Wire.to(broker, PORTS["rabbitmq"])
    address = f"{wire.url(broker)}?prefix=chaos{uuid4().hex[:8]}"

    async def restart() -> None:
        await wire.down()
        await asyncio.sleep(AWAY)
        await wire.up()

    try:
        return await cluster_chaos(
            url,
            folder,
            instances=instances,
            kills=kills,
            transport=address,
            every=timedelta(seconds=1),
            alive=timedelta(seconds=2),
            restart_broker=restart,
        )
    finally:
        await _tidy_up(address)
        await wire.close()


async def _tidy_up(address: str) -> None:
    transport = transport_from_url(address)
    await transport.open()
    for queue in ("default", QUEUE):
        await transport.delete_queue(f"{queue}@cluster")
    await transport.close()
