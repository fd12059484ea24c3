"""Times that came while no server ran: the next one does what the trigger's policy says, once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from holdfast import Holdfast, Workflow
from holdfast.activities import Cron, Sequence, WriteLine
from holdfast.model.commit import Commit
from holdfast.model.schedule import instance_id, schedule_id
from holdfast.model.work import ScheduleStep
from holdfast.persistence import store_from_url
from holdfast.server import create_app
from tests.integration.server.conftest import Caller, served

SCHEDULE = schedule_id("yearly", "new-year")


@asynccontextmanager
async def server(url: str, misfire: str) -> AsyncIterator[Caller]:
    """A yearly schedule: no test takes long enough for the next one to come."""
    trigger = Cron("0 0 1 1 *", id="new-year", can_start=True, misfire=misfire)
    workflow = Workflow(Sequence(trigger, WriteLine("happy new year")), id="yearly")
    engine = Holdfast(store=url, workflows=[workflow], entry_points=False)
    app = create_app(engine, auth=False, studio=False)
    async with served(app) as address, aiohttp.ClientSession() as session:
        yield Caller(session, address, engine, app)


async def let_time_pass(url: str, due: datetime) -> None:
    """The schedule was due then, and nobody was there. The clock is the database's: no test can move it."""
    store = store_from_url(url)
    await store.open()
    (row,) = await store.list_schedules("")
    assert row.due is not None
    await store.commit([Commit(tenant="", burst_id="past", schedules_fired=(ScheduleStep(row.id, row.due, due),))])
    await store.close()


def is_ahead(page: Any) -> bool:
    (row,) = page["items"]
    return datetime.fromisoformat(row["due"]) > datetime.now(UTC)


@pytest.mark.parametrize(("misfire", "years"), [("fire_once", [-2]), ("catch_up", [-2, -1, 0]), ("skip", [])])
async def test_what_came_due_while_no_server_ran_follows_the_policy(
    tmp_path: Path, misfire: str, years: list[int]
) -> None:
    url = f"sqlite:///{tmp_path}/h.db"
    async with server(url, misfire) as api:
        assert is_ahead(await api.get("/api/schedules"))
    now = datetime.now(UTC)
    await let_time_pass(url, datetime(now.year - 2, 1, 1, tzinfo=UTC))

    for _ in range(2):  # The second server finds nothing left to do.
        async with server(url, misfire) as api:
            await api.until("/api/schedules", is_ahead)
            found = (await api.until("/api/instances", lambda page: len(page["items"]) == len(years)))["items"]

    due = [datetime(now.year + year, 1, 1, tzinfo=UTC) for year in years]
    assert {item["id"] for item in found} == {instance_id(SCHEDULE, moment) for moment in due}
    assert {item["status"] for item in found} <= {"finished"}
