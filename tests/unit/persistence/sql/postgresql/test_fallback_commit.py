"""A commit that is written alone while another process takes its key, its slot or its id."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from holdfast.model.commit import COMMITTED, CommitOutcome, Conflict, ConflictReason, Failed
from holdfast.model.guard import Guard, activation_slot, idempotency_key
from holdfast.persistence.retry import RetryPolicy
from holdfast.persistence.sql.postgresql import PostgresStore
from holdfast.persistence.sql.postgresql.connection import Connection
from holdfast.testing.store_rows import bookmark, commit_of, instance

pytestmark = pytest.mark.service("postgres")

KEY = idempotency_key(operation="start", target="order", key="order-1", fingerprint="f1")
SLOT = activation_slot(strategy="singleton", definition_id="order")
_TAKE = (
    "insert into hf_guard (tenant, kind, name, fingerprint, instance_id, created) values ('', $1, $2, $3, 'first', 0)"
)
_WAITS = """select count(*) from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where not l.granted and a.datname = current_database()"""


@pytest.fixture
async def store(database: str, admin: Connection) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(database, retry=RetryPolicy(delay=timedelta(0)))
    await store.open()
    yield store
    await store.close()


async def alone(store: PostgresStore, guard: Guard) -> CommitOutcome:
    commit = commit_of(instance("second"), guards_taken=(guard,))
    return await store._driver.committer._fallback._commit_alone(commit)


@pytest.mark.parametrize(("guard", "reason"), [(KEY, ConflictReason.KEY), (SLOT, ConflictReason.SLOT)])
async def test_a_guard_that_is_taken_meanwhile_is_a_conflict_with_its_holder(
    store: PostgresStore, admin: Connection, guard: Guard, reason: ConflictReason
) -> None:
    """It saw no holder, and its insert waits for the other transaction."""
    async with asyncio.timeout(20):
        await admin.execute("begin")
        await admin.fetch(_TAKE, guard.kind.value, guard.name, guard.fingerprint)
        commit = asyncio.create_task(alone(store, guard))
        while not (await admin.fetch(_WAITS))[0][0]:
            continue
        await admin.execute("commit")
        outcome = await commit

    assert isinstance(outcome, Conflict), outcome
    assert (outcome.reason, outcome.holder) == (reason, "first")


async def test_a_guard_that_is_not_taken_after_all_is_committed(store: PostgresStore, admin: Connection) -> None:
    async with asyncio.timeout(20):
        await admin.execute("begin")
        await admin.fetch(_TAKE, KEY.kind.value, KEY.name, KEY.fingerprint)
        commit = asyncio.create_task(alone(store, KEY))
        while not (await admin.fetch(_WAITS))[0][0]:
            continue
        await admin.execute("rollback")

        assert await commit == COMMITTED


async def test_a_commit_that_collides_with_itself_fails(store: PostgresStore) -> None:
    twice = bookmark("", "second")
    commit = commit_of(instance("second"), bookmarks_added=(twice, twice))

    outcome = await store._driver.committer._fallback._commit_alone(commit)

    assert isinstance(outcome, Failed)
