"""The pulse and the heartbeat are one statement each, and the pulse does not depend on the number of rows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest

from holdfast.model.work import Owner
from holdfast.persistence.sql.postgresql import PostgresStore
from holdfast.persistence.sql.postgresql.connection import LANE, connect
from holdfast.persistence.sql.postgresql.pool import end
from holdfast.persistence.sql.postgresql.pulse import _PULSE
from tests.support.services.postgresql import postgres_database
from tests.support.statements import Statements, counted_statements

pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with postgres_database() as url:
        yield url


@pytest.fixture
def statements() -> Iterator[Statements]:
    with counted_statements() as found:
        yield found


async def test_pulse_clock_and_heartbeat_are_one_statement_each(database: str, statements: Statements) -> None:
    store = PostgresStore(database)
    await store.open()
    owner = (await store.register_node("n", time_to_live=timedelta(minutes=1), details=b"\x00host")).node.owner
    statements.clear()

    assert await store.beat(owner)
    assert not await store.beat(Owner("n", owner.boot - 1))
    await store.now()
    pulse = await store.pulse(owner, [f"queue{number}" for number in range(200)])
    await asyncio.sleep(0)  # The driver logs a statement in the next turn of the event loop.
    sent = [text for text in statements.texts if "statement_timestamp()" in text]
    await store.close()

    assert len(sent) == 4
    assert not any(text.startswith("begin isolation") for text in statements.texts)
    assert [node.details for node in pulse.nodes] == [b"\x00host"]


async def test_the_pulse_reads_no_table_as_a_whole(database: str) -> None:
    store = PostgresStore(database)
    await store.open()
    lane = await connect(database, LANE)
    plan = "\n".join(row[0] for row in await lane.fetch("explain " + _PULSE, ["a"], "n", 1))
    await end(lane)
    await store.close()

    for table in ("hf_work", "hf_effect", "hf_schedule"):
        assert f"Seq Scan on {table}" not in plan
