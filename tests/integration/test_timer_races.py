"""Waits whose event and timeout arrive together: one of the two wins, and no lock waits for another (rule H8)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Status, Workflow
from holdfast.activities import Event, Sequence, SetVariable, Try
from holdfast.errors import HoldfastError
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.instance import JournalEvent
from tests.integration.conftest import Cluster

COUNT = 200
WAIT = timedelta(seconds=2)


def waiting() -> Workflow:
    late = SetVariable("won", "timeout")
    return Workflow(
        Try(
            Sequence(Event("paid", timeout=WAIT), SetVariable("won", "event")),
            catches=[{"errors": ["ActivityTimeout"], "activity": late}],
        ),
        id="race",
        variables={"won": ""},
    )


async def deadlocks(runtime: ManagedRuntime) -> int:
    store: Any = runtime.store
    if store.name != "postgresql":
        return 0
    import asyncpg  # type: ignore[import-untyped]  # the driver brings no types

    connection = await asyncpg.connect(store._url)
    try:
        return int(
            await connection.fetchval("select deadlocks from pg_stat_database where datname = current_database()")
        )
    finally:
        await connection.close()


@pytest.mark.timeout(120)
async def test_event_and_timeout_arrive_together(cluster: Cluster) -> None:
    a, b = await cluster.node("a", work=True), await cluster.node("b", work=True)
    before = await deadlocks(a)
    flow = waiting()
    names = [f"{cluster.tenant}-{number}" for number in range(COUNT)]
    await asyncio.gather(*(a.start(flow, instance_id=name) for name in names))
    due = {mark.due for mark in (await a.read(names[0]))._live.bookmarks.values() if mark.due is not None}
    await asyncio.sleep(max(0.0, (min(due) - await a.store.now()).total_seconds()))

    async def pay(name: str) -> None:
        try:
            await b.stimuli.event("paid", instance_id=name)
        except HoldfastError:
            return  # The timeout was faster.

    await asyncio.gather(*(pay(name) for name in names))
    async with asyncio.timeout(60):
        results = [await a.wait_at_rest(name) for name in names]

    assert {item.status for item in results} == {Status.FINISHED}
    assert {item.variables["won"] for item in results} <= {"event", "timeout"}
    for name in names[:20]:
        events = [entry.event for entry in await a.journal(name)]
        assert events.count(JournalEvent.INSTANCE_FINISHED) == 1
    assert await deadlocks(a) == before
