"""Addresses of PostgreSQL: poolers, several hosts, and servers that refuse writes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import urlsplit, urlunsplit

import asyncpg  # type: ignore[import-untyped]  # untyped driver
import pytest

from holdfast import Holdfast, Status, Workflow, activity
from holdfast.activities import Sequence
from holdfast.errors import StoreMisconfigured, StoreUnavailable
from holdfast.persistence import store_from_url
from holdfast.persistence.retry import RetryPolicy
from tests.support.services.availability import ServiceMissing, free_port
from tests.support.services.pgbouncer import pgbouncer

pytestmark = pytest.mark.service("postgres")

NO_RETRIES = RetryPolicy(retries=0)


@activity
async def pay() -> str:
    return "paid"


@pytest.fixture
def url(servers: dict[str, str]) -> str:
    return servers["postgresql"]


@pytest.fixture
def pooled(request: pytest.FixtureRequest, url: str) -> Iterator[str]:
    try:
        with pgbouncer(url, request.param) as found:
            yield found
    except ServiceMissing as missing:
        pytest.skip(str(missing))


async def run(url: str) -> Status:
    async with Holdfast(store=url, entry_points=False, activities=[pay]) as app:
        started = (await app.runtime.start(Workflow(Sequence(pay.bind()), id="paying"))).result
        assert started is not None
        return (await app.runtime.wait_at_rest(started.instance_id)).status


@pytest.mark.parametrize("pooled", ["session"], indirect=True)
async def test_a_pooler_with_its_own_sessions_works(pooled: str) -> None:
    assert await run(pooled) is Status.FINISHED


@pytest.mark.parametrize("pooled", ["transaction", "statement"], indirect=True)
async def test_a_pooler_that_shares_sessions_is_refused_with_the_remedy(pooled: str) -> None:
    with pytest.raises(StoreMisconfigured, match="pool_mode = session"):
        await run(pooled)


async def test_of_several_hosts_the_first_that_answers_is_used(url: str) -> None:
    parts = urlsplit(url)
    hosts = f"{parts.username}@127.0.0.1:{free_port()},127.0.0.1:{parts.port or 5432}"
    several = urlunsplit(parts._replace(netloc=hosts, query="target_session_attrs=read-write"))

    assert await run(several) is Status.FINISHED


async def test_a_database_that_refuses_writes_is_reported_as_read_only(url: str) -> None:
    store = store_from_url(url, retry=NO_RETRIES)
    await store.open()
    await store.close()
    name = urlsplit(url).path.strip("/")
    connection = await asyncpg.connect(url)
    await connection.execute(f'alter database "{name}" set default_transaction_read_only = on')
    try:
        await store.open()
        with pytest.raises(StoreUnavailable, match=r"is read-only .* Use the address of the primary"):
            await store.register_node("a", time_to_live=timedelta(minutes=1))
    finally:
        await connection.execute("set default_transaction_read_only = off")
        await connection.execute(f'alter database "{name}" set default_transaction_read_only = off')
        await connection.close()
        await store.close()
