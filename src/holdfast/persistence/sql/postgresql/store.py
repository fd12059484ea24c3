"""PostgreSQL store: the shared parts of SQL stores, some of them specialized, on the PostgreSQL driver."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Any, TypeVar

from holdfast.model.changes import NO_TOPIC, Change, of_rows
from holdfast.model.commit import Commit, CommitOutcome, check_batch
from holdfast.model.listing import HourCount, InstanceFilter, InstancePage, InstanceQuery
from holdfast.model.stored import InstanceKey
from holdfast.model.upkeep import InstanceExport, MigrationReport, RetentionRule, StoreStats
from holdfast.model.work import InboxRow, WorkRow
from holdfast.persistence import faultpoints
from holdfast.persistence.codec import PayloadCodec
from holdfast.persistence.retry import DEFAULT_POLICY, RetryPolicy, TransientTypes
from holdfast.persistence.sql.connection_shares import connection_shares
from holdfast.persistence.sql.definitions import SqlDefinitions
from holdfast.persistence.sql.effects import SqlEffects
from holdfast.persistence.sql.postgresql.claim import UNTIL_DUE, LockedClaim
from holdfast.persistence.sql.postgresql.connection import Connection, PostgresTransient
from holdfast.persistence.sql.postgresql.dialect import POSTGRESQL
from holdfast.persistence.sql.postgresql.driver import POOLS, SINGLE_CONNECTIONS, PostgresDriver
from holdfast.persistence.sql.postgresql.inbox_lookup import InboxWrites, PostgresInbox
from holdfast.persistence.sql.postgresql.pulse import PostgresPulse
from holdfast.persistence.sql.postgresql.query_batch import QueryBatcher
from holdfast.persistence.sql.postgresql.reads import Lookups, PostgresReads
from holdfast.persistence.sql.postgresql.search import PostgresSearch
from holdfast.persistence.sql.postgresql.upkeep import PostgresExportImport, PostgresUpkeep
from holdfast.persistence.sql.records import SqlRecords
from holdfast.persistence.sql.script import Rows, Script
from holdfast.persistence.sql.store_base import system_now
from holdfast.persistence.sql.work import SqlWork
from holdfast.persistence.sql.work_tables import WORK
from holdfast.persistence.store_state import forked, not_open
from holdfast.ports import Codec, TransientErrors

T = TypeVar("T")


class PostgresStore(
    PostgresReads,
    SqlDefinitions,
    SqlWork,
    SqlEffects,
    PostgresInbox,
    PostgresPulse,
    PostgresSearch,
    PostgresUpkeep,
    PostgresExportImport,
    SqlRecords,
):
    name = "postgresql"

    def __init__(
        self,
        url: str,
        *,
        codec: Codec | None = None,
        now: Callable[[], datetime] = system_now,
        retry: RetryPolicy = DEFAULT_POLICY,
        transient: TransientErrors | None = None,
        connections: int | None = None,
    ) -> None:
        """`connections` is the largest number of connections, without the one of the heartbeat."""
        super().__init__(POSTGRESQL, codec or PayloadCodec(), now)
        own = PostgresTransient()
        self.transient: TransientErrors = own if transient is None else TransientTypes(others=(own, transient))
        self._url = url
        self._retry = retry
        self._pools = connection_shares(connections, POOLS, single=SINGLE_CONNECTIONS, store="PostgreSQL")
        self._open_driver: PostgresDriver | None = None

    async def open(self, *, migrate: bool = True) -> None:
        if self._open_driver is None:
            driver = self._new_driver()
            await driver.open(migrating=migrate)
            self._open_driver = driver

    async def close(self) -> None:
        driver, self._open_driver = self._open_driver, None
        if driver is not None:
            await driver.close()

    async def migrate(self, *, check: bool = False) -> MigrationReport:
        return await self._new_driver().migrate(check=check)

    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        check_batch(batch)
        if not batch:
            return []
        driver = self._driver
        faultpoints.reached("commit.begin")
        return await driver.commit(batch)

    def claim(
        self,
        queues: Sequence[str],
        limit: int,
        *,
        lacking: Collection[str] = (),
        without: Collection[tuple[str, str]] = (),
    ) -> AbstractAsyncContextManager[LockedClaim]:
        driver = self._driver
        return driver.claim(lambda connection: self._claim_on(connection, driver), queues, limit, lacking, without)

    def _claim_on(self, connection: Connection, driver: PostgresDriver) -> LockedClaim:
        return LockedClaim(connection, driver.committer, self.commit, driver.committed)

    async def until_due(self, queues: Sequence[str], *, lacking: Collection[str] = ()) -> timedelta | None:
        ((left,),) = await self._driver.fetch(UNTIL_DUE, list(queues), list(lacking))
        return None if left is None else timedelta(microseconds=left)

    async def wait_for_change(self, since: int, timeout: timedelta) -> int:
        return await self._driver.listener.wait(since, timeout)

    def subscribe(self, on_change: Callable[[Change], None], *, anything: bool = False) -> Callable[[], None]:
        return self._driver.listener.subscribe(on_change, anything=anything)

    async def enqueue(self, rows: Sequence[WorkRow]) -> Sequence[bool]:
        answers = await self._driver.enqueuing.submit([WORK.encode(row, self._codec) for row in rows])
        self._driver.listener.changed(of_rows(rows))
        return answers

    async def put_inbox(self, rows: Sequence[InboxRow], work: Sequence[WorkRow] = ()) -> Sequence[bool]:
        answers = await super().put_inbox(rows, work)
        self._driver.listener.changed(of_rows(work))
        return answers

    async def search(self, query: InstanceQuery) -> InstancePage:
        await self._driver.projector.catch_up()
        return await super().search(query)

    async def count_by_status(self, tenant: str, filter: InstanceFilter) -> Mapping[str, int]:
        await self._driver.projector.catch_up()
        return await super().count_by_status(tenant, filter)

    async def count_by_hour(self, tenant: str, since: datetime) -> Sequence[HourCount]:
        await self._driver.projector.catch_up()
        return await super().count_by_hour(tenant, since)

    async def find_expired(self, tenant: str, rule: RetentionRule, limit: int) -> Sequence[str]:
        await self._driver.projector.catch_up()
        return await super().find_expired(tenant, rule, limit)

    async def delete_instances(self, tenant: str, ids: Sequence[str]) -> int:
        deleted = await super().delete_instances(tenant, ids)
        self._driver.projector.mark()
        return deleted

    async def import_instance(self, export: InstanceExport) -> None:
        await super().import_instance(export)
        self._driver.projector.mark()

    async def stats(self, tenant: str | None = None, *, at_most: int | None = None) -> StoreStats:
        await self._driver.projector.catch_up()
        return await super().stats(tenant, at_most=at_most)

    async def find_stuck(self, limit: int) -> Sequence[InstanceKey]:
        await self._driver.projector.catch_up()
        return await super().find_stuck(limit)

    async def live_contents(self) -> Mapping[tuple[str, str], int]:
        await self._driver.projector.catch_up()
        return await super().live_contents()

    @property
    def _driver(self) -> PostgresDriver:
        driver = self._open_driver
        if driver is None:
            raise not_open()
        if driver.process != os.getpid():
            raise forked()
        return driver

    def _new_driver(self) -> PostgresDriver:
        return PostgresDriver(self._url, self._codec, self.transient, self._retry, self._pools)

    async def _read(self, script: Script[T]) -> T:
        return await self._driver.read(script)

    async def _write(self, make: Callable[[], Script[T]], change: Change = NO_TOPIC) -> T:
        return await self._driver.write(make, change)

    async def _fetch(self, sql: str, *values: Any) -> Rows:
        return await self._driver.fetch(sql, *values)

    @property
    def _lookups(self) -> Lookups:
        return self._driver.lookups

    @property
    def _inbox_writes(self) -> InboxWrites:
        return self._driver.inbox_writes

    @property
    def _mail_checks(self) -> QueryBatcher[tuple[str, int], bool]:
        return self._driver.mail_checks
