"""A process dies after its outlet took an event and before the row is deleted: another delivers it again, with the same id."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.ports import LifecycleEvent
from holdfast.runtime.outbox import relay
from holdfast.runtime.outbox.relay import FunctionOutlet
from tests.support.node import node_of

DIED = 70
LIFE = f"""
import asyncio, os, sys
import msgspec
from datetime import timedelta
from holdfast import Holdfast, Workflow
from holdfast.activities import Event
from holdfast.persistence import store_from_url
from holdfast.runtime.outbox import relay
from tests.support.node import node_of

url, tenant, ledger = sys.argv[1:]
relay.LEASE = timedelta(0)  # whoever comes next does not wait for the dead

async def deliver(event):
    with open(ledger, "ab") as file:
        file.write(msgspec.json.encode(event) + b"\\n")

async def live():
    store = store_from_url(url)
    await store.open()
    engine = Holdfast(entry_points=False)
    outlets = (relay.FunctionOutlet("bus", deliver),)
    runtime = engine.runtime_on(store, tenant=tenant, node=tenant + "-dies", outlets=outlets)
    await node_of(runtime).start()
    await runtime.start(Workflow(Event("go"), id="waits"))
    async def die(rows):
        os._exit({DIED})
    store.delete_outbox = die
    await node_of(runtime).relay.deliver()

asyncio.run(live())
"""


async def test_who_dies_between_delivery_and_delete_loses_nothing_and_repeats_the_same_ids(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cluster.url == "memory://":
        pytest.skip("A store in memory dies with its process.")
    monkeypatch.setattr(relay, "LEASE", timedelta(seconds=1))
    ledger = tmp_path / "ledger"
    life = await asyncio.create_subprocess_exec(sys.executable, "-c", LIFE, cluster.url, cluster.tenant, str(ledger))
    async with asyncio.timeout(60):
        assert await life.wait() == DIED
    before = [msgspec.json.decode(line, type=LifecycleEvent) for line in ledger.read_bytes().splitlines()]

    got: list[LifecycleEvent] = []

    async def take(event: LifecycleEvent) -> None:
        got.append(event)

    another = await cluster.node("lives", outlets=(FunctionOutlet("bus", take),))
    assert await node_of(another).relay.deliver() == len(before)

    in_order = sorted(before, key=lambda event: event.id)
    assert [item.event for item in in_order] == ["instance.started", "segment.committed", "instance.suspended"]
    assert sorted(got, key=lambda event: event.id) == in_order
    assert await node_of(another).relay.deliver() == 0
    assert (await another.store.stats(cluster.tenant)).outbox == 0
