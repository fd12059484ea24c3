"""Driver of one PostgreSQL store: connection pools by purpose, group commit, the listener and the projector."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, TypeVar

from holdfast.model.changes import NO_TOPIC, Change, of_commits
from holdfast.model.commit import Commit, CommitOutcome
from holdfast.model.upkeep import MigrationReport
from holdfast.persistence.retry import RetryPolicy, retrying
from holdfast.persistence.sql.commit_grouping import DISJOINT_INSTANCES
from holdfast.persistence.sql.group_commit import GroupCommit
from holdfast.persistence.sql.postgresql.batch_commit import Committer
from holdfast.persistence.sql.postgresql.claim import Claims, LockedClaim
from holdfast.persistence.sql.postgresql.connection import (
    DATABASE_ERRORS,
    LANE,
    LISTENER,
    ORDINARY,
    Connection,
    breaks_connection,
    connect,
    explained,
    read_only,
    refuse_shared_sessions,
    run,
)
from holdfast.persistence.sql.postgresql.fallback_commit import SNAPSHOT, FallbackCommitter
from holdfast.persistence.sql.postgresql.inbox_lookup import InboxWrites, addressed
from holdfast.persistence.sql.postgresql.inserts import insert_new
from holdfast.persistence.sql.postgresql.instance_list import Projector
from holdfast.persistence.sql.postgresql.migrate import check_schema, check_server, migrate
from holdfast.persistence.sql.postgresql.notifications import Listener
from holdfast.persistence.sql.postgresql.pool import Pool, end, roll_back
from holdfast.persistence.sql.postgresql.query_batch import QueryBatcher
from holdfast.persistence.sql.postgresql.reads import Lookups
from holdfast.persistence.sql.script import Rows, Script
from holdfast.persistence.sql.work_tables import WORK
from holdfast.ports import Codec, TransientErrors

T = TypeVar("T")
Row = tuple[Any, ...]

POOLS = {"ordinary": 4, "lookups": 2, "lanes": 2, "claims": 8}
"""Largest number of connections per purpose, by default. A connection is opened when it is first needed."""
SINGLE_CONNECTIONS = 2
"""The connections of the listener and of the projector."""


class PostgresDriver:
    def __init__(
        self, url: str, codec: Codec, transient: TransientErrors, policy: RetryPolicy, pools: Mapping[str, int]
    ) -> None:
        self._url = url
        self._transient = transient
        self._policy = policy
        self.process = os.getpid()
        self._ordinary = Pool(lambda: connect(url, ORDINARY), pools["ordinary"])
        self._lookup_pool = Pool(lambda: connect(url, LANE), pools["lookups"])
        self.lookups = Lookups(self.fetch, codec, pools["lookups"])
        self.enqueuing: QueryBatcher[Row, bool] = QueryBatcher(self._enqueue, 1)
        self.inbox_writes = InboxWrites(self.insert)
        self.mail_checks: QueryBatcher[tuple[str, int], bool] = QueryBatcher(
            partial(addressed, self.fetch), pools["lookups"]
        )
        self._lane_pool = Pool(lambda: connect(url, LANE), pools["lanes"])
        self._claim_pool = Pool(lambda: connect(url, LANE), pools["claims"])
        fallback = FallbackCommitter(self._ordinary, self._lookup_pool, codec, url)
        self.committer = Committer(self._lane_pool, fallback, codec, url, transient, policy)
        self._group_commit = GroupCommit(self.committer.commit, DISJOINT_INSTANCES, lanes=pools["lanes"], inline=True)
        self._claims = Claims(self._claim_pool, codec, self._retried)
        self.listener = Listener(lambda: connect(url, LISTENER))
        self._listing_pool = Pool(lambda: connect(url, LANE), 1)
        self.projector = Projector(self._listing_pool)

    async def open(self, *, migrating: bool) -> None:
        connection = await self._retried(self._connect_without_timeout)
        try:
            check_server(connection)
            await refuse_shared_sessions(connection, self._url)
            if migrating:
                await migrate(connection)
            await check_schema(connection)
        except DATABASE_ERRORS as error:
            raise explained(error, self._url) from error
        finally:
            await end(connection)
        if migrating:  # Not the second handle of a process, which only renews the heartbeat.
            self.projector.mark()

    async def _connect_without_timeout(self) -> Connection:
        """A connection without a statement timeout, for migrations: another node may be migrating, or a table may be large."""
        return await connect(self._url, ORDINARY, limited=False)

    async def migrate(self, *, check: bool) -> MigrationReport:
        connection = await self._connect_without_timeout()
        try:
            check_server(connection)
            return await migrate(connection, check=check)
        except DATABASE_ERRORS as error:
            raise explained(error, self._url) from error
        finally:
            await end(connection)

    async def close(self) -> None:
        await self._group_commit.close()
        await self.lookups.close()
        await self.enqueuing.close()
        await self.inbox_writes.batcher.close()
        await self.mail_checks.close()
        await self.listener.close()
        await self.projector.close()
        for pool in (self._lane_pool, self._claim_pool, self._lookup_pool, self._listing_pool, self._ordinary):
            await pool.close()

    def committed(self, batch: Sequence[Commit]) -> None:
        """Tell the listener and the projector of committed instances."""
        self.listener.changed(of_commits(batch))
        if any(commit.instance is not None for commit in batch):
            self.projector.mark()

    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        try:
            outcomes = await self._group_commit.submit(batch)
        except DATABASE_ERRORS as error:
            raise explained(error, self._url) from error
        self.committed(batch)
        return outcomes

    def claim(
        self,
        make: Callable[[Connection], LockedClaim],
        queues: Sequence[str],
        limit: int,
        lacking: Collection[str],
        without: Collection[tuple[str, str]],
    ) -> AbstractAsyncContextManager[LockedClaim]:
        return self._claims.take(make, queues, limit, lacking, without)

    async def read(self, script: Script[T]) -> T:
        """Run a script in one snapshot. Only the begin is retried, because a script cannot be restarted."""

        async def begin() -> Connection:
            connection = await self._ordinary.take()
            try:
                await connection.execute(SNAPSHOT)
            except BaseException:
                connection.terminate()
                self._ordinary.give_back(connection)
                raise
            return connection

        connection = await self._retried(begin)
        try:
            result = await run(connection, script)
            await connection.execute("commit")
        except BaseException as error:
            if breaks_connection(error):
                connection.terminate()
            await roll_back(connection)
            if isinstance(error, DATABASE_ERRORS):
                raise explained(error, self._url) from error
            raise
        finally:
            self._ordinary.give_back(connection)
        return result

    async def write(self, make: Callable[[], Script[T]], change: Change) -> T:
        async def attempt() -> T:
            async with self._ordinary.transaction() as connection:
                return await run(connection, make())

        result = await self._retried(attempt)
        self.listener.changed(change)
        return result

    async def fetch(self, sql: str, *values: Any) -> Rows:
        """Run one query, which is its own snapshot."""

        async def attempt() -> Rows:
            async with self._lookup_pool.connection() as connection:
                return await connection.fetch(sql, *values)

        return await self._retried(attempt)

    async def insert(self, insert: Callable[[Connection], Awaitable[T]]) -> T:
        result = await self._insert_silently(insert)
        self.listener.changed(NO_TOPIC)
        return result

    async def _insert_silently(self, insert: Callable[[Connection], Awaitable[T]]) -> T:
        async def attempt() -> T:
            async with self._lookup_pool.connection() as connection:
                return await insert(connection)

        return await self._retried(attempt)

    async def _enqueue(self, rows: Sequence[Row]) -> Sequence[bool]:
        """Insert the work rows of all callers that arrived during the last insert, in one transaction. Each caller publishes
        its own rows."""
        return await self._insert_silently(insert_new(WORK, "work_added", rows))

    async def _retried(self, attempt: Callable[[], Awaitable[T]]) -> T:
        try:
            return await retrying(
                attempt, transient=self._transient, policy=self._policy, explain=partial(read_only, url=self._url)
            )
        except DATABASE_ERRORS as error:
            raise explained(error, self._url) from error
