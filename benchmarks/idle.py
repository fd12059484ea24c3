"""Statements of an idle worker on PostgreSQL, with many tenants and schedules, counted by the query log of the driver."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from benchmarks import holdfast_engine
from benchmarks.figures import Effort, Figure, Group
from benchmarks.store_databases import POSTGRES, database
from holdfast.model.work import ScheduleRow
from holdfast.ports import Store
from tests.support.statements import Statements, counted_statements

TENANTS = 100
SCHEDULES = 1_000
WARM_UP_SECONDS = 6.0
SECONDS = 60.0

FIGURES = (
    Figure(
        "idle.statements_per_min",
        f"statements of an idle worker per minute, with {TENANTS} tenants and {SCHEDULES:,} schedules",
        goal=30,
    ),
    Figure("idle.connections", f"connections of an idle worker with {TENANTS} tenants"),
)


def measure(effort: Effort) -> Mapping[str, float]:
    with database(POSTGRES) as place, counted_statements() as statements:
        asyncio.run(_idle(place.url, statements))
        return {
            "idle.statements_per_min": len(statements) * 60 / SECONDS,
            "idle.connections": statements.connections,
        }


async def _idle(url: str, statements: Statements) -> None:
    engine = holdfast_engine.engine()
    store = engine.store(url)
    await store.open()
    tenants = [f"tenant-{number}" for number in range(TENANTS)]
    await _add_schedules(store, tenants)
    runtime = engine.runtime_on(store, tenant=tenants[0], tenants=tenants, second_handle=lambda: engine.store(url))
    async with runtime:
        runtime.take_work()
        await asyncio.sleep(WARM_UP_SECONDS)
        statements.clear()
        await asyncio.sleep(SECONDS)
        counted = list(statements.texts)
    await store.close()
    engine.close()
    statements.texts[:] = counted


async def _add_schedules(store: Store, tenants: list[str]) -> None:
    due = datetime.now(UTC) + timedelta(days=1)
    for number in range(SCHEDULES):
        tenant = tenants[number % TENANTS]
        row = ScheduleRow(tenant=tenant, id=f"s{number}", definition_id=f"d{number}", due=due, payload=b"{}")
        await store.put_schedules(tenant, row.definition_id, [row])


GROUP = Group("idle", FIGURES, measure)
