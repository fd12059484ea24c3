"""The settings `lanes` and `store_connections`: an application keeps to them, and works with the smallest number."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from holdfast import Holdfast, activity, wait_for, workflow
from holdfast.errors import SettingsError, StoreMisconfigured
from tests.support.services.availability import Needed

HEARTBEAT = 1
COUNTED = {
    "postgresql": (6, "asyncpg", "select count(*) from pg_stat_activity where datname = current_database()"),
    "mysql": (3, "asyncmy", "select count(*) from information_schema.processlist where db = database()"),
}
"""By scheme: the smallest number, the driver, and the statement that counts the connections to the database."""


@activity
async def add(number: int) -> int:
    return number + 1


@workflow
async def adding(number: int) -> int:
    await wait_for("more")
    return await add(number)


async def use(app: Holdfast) -> None:
    """Starts, stimuli, effects, lists and results, many at once."""
    handles = await asyncio.gather(*(app.start(adding, number) for number in range(30)))
    await asyncio.gather(*(app.send("more", instance_id=handle.id) for handle in handles))
    assert await asyncio.gather(*(handle.result() for handle in handles)) == list(range(1, 31))


@pytest.fixture(
    params=[
        pytest.param("postgresql", marks=pytest.mark.service("postgres")),
        pytest.param("mysql", marks=pytest.mark.service("mysql")),
    ]
)
def server_url(request: pytest.FixtureRequest, servers: dict[str, str]) -> str:
    with Needed("postgres" if request.param == "postgresql" else "mysql"):
        return servers[request.param]


async def test_a_process_opens_no_more_connections_than_the_setting(server_url: str) -> None:
    url = server_url
    least, driver, statement = COUNTED[url.partition("://")[0]]
    engine = create_async_engine(url.replace("://", f"+{driver}://", 1), pool_size=1)
    async with engine.connect() as connection:
        before = (await connection.execute(text(statement))).scalar_one()
        await connection.rollback()
        app = Holdfast(store=url, workflows=[adding], entry_points=False, store_connections=least, lanes=4)
        async with asyncio.timeout(60), app:
            await use(app)
            during = (await connection.execute(text(statement))).scalar_one()
    await engine.dispose()

    assert during - before <= least + HEARTBEAT


async def test_sqlite_works_with_one_reader_and_one_lane(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'one.db'}"
    app = Holdfast(store=url, workflows=[adding], entry_points=False, store_connections=3, lanes=1)
    async with asyncio.timeout(60), app:
        await use(app)


@pytest.mark.parametrize(("url", "least"), [("sqlite:///few.db", 3), ("postgresql://h/d", 6), ("mysql://h/d", 3)])
async def test_too_few_connections_are_refused(url: str, least: int, tmp_path: Path) -> None:
    app = Holdfast(store=url, entry_points=False, store_connections=1)
    with pytest.raises(StoreMisconfigured, match=f"store_connections=1 is too few .* at least {least}"):
        await app.__aenter__()


def test_a_node_without_lanes_is_refused() -> None:
    with pytest.raises(SettingsError, match="'lanes' takes a whole number, at least 1"):
        Holdfast(lanes=0, entry_points=False)
