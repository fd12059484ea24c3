"""An idle worker sends at most 30 statements per minute to PostgreSQL, for any number of tenants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from holdfast import Holdfast
from holdfast.model.work import ScheduleRow
from tests.support.fast_loop import run_fast
from tests.support.statements import Statements, counted_statements

pytestmark = pytest.mark.service("postgres")

PULSES_PER_MINUTE = 12
GOAL = 30


async def _idle_minute(url: str, tenants: list[str], statements: Statements) -> list[str]:
    """The statements of a minute, measured by the pulses in it."""
    engine = Holdfast()
    store = engine.store(url)
    await store.open()
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    for tenant in tenants:
        await store.put_schedules(
            tenant, "d", [ScheduleRow(tenant=tenant, id="s", definition_id="d", due=tomorrow, payload=b"{}")]
        )
    async with engine.runtime_on(store, tenant=tenants[0], tenants=tenants) as runtime:
        runtime.take_work()
        await _pulses(statements, PULSES_PER_MINUTE)  # The first minute has the start of the node.
        statements.clear()
        await _pulses(statements, PULSES_PER_MINUTE)
        found = list(statements.texts)
    await store.close()
    engine.close()
    return found


async def _pulses(statements: Statements, count: int) -> None:
    before = _pulse_count(statements)
    while _pulse_count(statements) < before + count:
        statements.added.clear()
        await statements.added.wait()


def _pulse_count(statements: Statements) -> int:
    return sum("from hf_schedule" in text for text in statements.texts)


@pytest.mark.parametrize("tenants", [1, 100])
def test_an_idle_worker_sends_few_statements(fresh_postgres: str, tenants: int) -> None:
    names = [f"tenant-{number}" for number in range(tenants)]
    with counted_statements() as statements:
        found = run_fast(lambda: _idle_minute(fresh_postgres, names, statements))

    assert len(found) <= GOAL, "\n".join(found)
