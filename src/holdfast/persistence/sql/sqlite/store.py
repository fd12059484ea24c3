"""SQLite store: the shared parts of SQL stores on the SQLite driver."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from holdfast.model.changes import NO_TOPIC, Change
from holdfast.model.cluster import Registration
from holdfast.model.commit import Commit, CommitOutcome, check_batch
from holdfast.model.listing import HOURS_KEPT
from holdfast.model.upkeep import MigrationReport
from holdfast.model.work import WorkRow
from holdfast.persistence import faultpoints
from holdfast.persistence.codec import PayloadCodec
from holdfast.persistence.retry import DEFAULT_POLICY, DEFAULT_TRANSIENT, RetryPolicy, TransientTypes, retrying
from holdfast.persistence.sql.commits import commit_script
from holdfast.persistence.sql.connection_shares import connection_shares
from holdfast.persistence.sql.definitions import SqlDefinitions
from holdfast.persistence.sql.dialect import Dialect
from holdfast.persistence.sql.effects import SqlEffects
from holdfast.persistence.sql.export_import import SqlExportImport
from holdfast.persistence.sql.inbox_outbox import SqlInboxOutbox
from holdfast.persistence.sql.nodes import SqlNodes
from holdfast.persistence.sql.pulse import SqlPulse
from holdfast.persistence.sql.reads import SqlReads
from holdfast.persistence.sql.records import SqlRecords
from holdfast.persistence.sql.script import Script, execute
from holdfast.persistence.sql.search import HOUR
from holdfast.persistence.sql.sqlite.claim import OptimisticClaim
from holdfast.persistence.sql.sqlite.driver import POOLS, SINGLE_CONNECTIONS, SqliteDriver
from holdfast.persistence.sql.store_base import system_now
from holdfast.persistence.sql.tallied_search import TalliedSearch
from holdfast.persistence.sql.tallied_upkeep import TalliedUpkeep
from holdfast.persistence.sql.work import SqlWork
from holdfast.ports import Codec, TransientErrors

T = TypeVar("T")

SQLITE = Dialect(
    name="sqlite",
    definitions_in_use="hf_tally",
    by_index=" indexed by {index}",
    by_name=" indexed by hf_instance_name",
    by_id=" indexed by sqlite_autoindex_hf_instance_1",
)


_PRUNE_TALLIES = "delete from hf_tally where tenant = ? and (value = 0 or (hour >= 0 and hour < ?))"


class SqliteStore(
    SqlDefinitions,
    SqlWork,
    SqlReads,
    SqlEffects,
    SqlInboxOutbox,
    SqlNodes,
    SqlPulse,
    TalliedSearch,
    TalliedUpkeep,
    SqlExportImport,
    SqlRecords,
):
    name = "sqlite"

    def __init__(
        self,
        path: Path,
        *,
        codec: Codec | None = None,
        now: Callable[[], datetime] = system_now,
        retry: RetryPolicy = DEFAULT_POLICY,
        transient: TransientErrors | None = None,
        connections: int | None = None,
    ) -> None:
        """`connections` is the number of connections to the file, without those of the heartbeat."""
        super().__init__(SQLITE, codec or PayloadCodec(), now)
        self.transient: TransientErrors = (
            DEFAULT_TRANSIENT if transient is None else TransientTypes(others=(DEFAULT_TRANSIENT, transient))
        )
        self._retry = retry
        self._claimed: set[tuple[str, str]] = set()
        self._claiming = asyncio.Lock()
        pools = connection_shares(connections, POOLS, single=SINGLE_CONNECTIONS, store="SQLite")
        self._driver = SqliteDriver(
            path, lambda batch: commit_script(batch, SQLITE, self._codec), now, pools["readers"]
        )

    async def open(self, *, migrate: bool = True) -> None:
        await asyncio.to_thread(self._driver.open, migrating=migrate)

    async def close(self) -> None:
        await self._driver.stop_watching()
        await asyncio.to_thread(self._driver.close)

    async def migrate(self, *, check: bool = False) -> MigrationReport:
        return await asyncio.to_thread(self._driver.migrate, check=check)

    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        check_batch(batch)
        if not batch:
            return []
        faultpoints.reached("commit.begin")
        return await retrying(lambda: self._driver.commit(batch), transient=self.transient, policy=self._retry)

    def _delete_rows(self, tenant: str, ids: Sequence[str], now: int) -> Script[None]:
        """Retention also deletes counters that are zero, and hours that are no longer shown."""
        yield from super()._delete_rows(tenant, ids, now)
        yield execute(_PRUNE_TALLIES, tenant, now // HOUR - round(HOURS_KEPT.total_seconds()) // 3600)

    @asynccontextmanager
    async def claim(
        self,
        queues: Sequence[str],
        limit: int,
        *,
        lacking: Collection[str] = (),
        without: Collection[tuple[str, str]] = (),
    ) -> AsyncIterator[OptimisticClaim]:
        async with self._claiming:
            rows, epoch = await self._read(self._claim(queues, limit, lacking, without))
            held = {(row.tenant, row.id) for row in rows}
            self._claimed |= held
        try:
            faultpoints.reached("claim.taken")
            yield OptimisticClaim(self, rows, epoch)
        finally:
            self._claimed -= held

    def _claim(
        self, queues: Sequence[str], limit: int, lacking: Collection[str], without: Collection[tuple[str, str]]
    ) -> Script[tuple[list[WorkRow], int]]:
        rows = yield from self._claimable(queues, limit, lacking, frozenset(self._claimed).union(without))
        epoch = yield from self._epoch()
        return rows, epoch

    async def register_node(self, node_id: str, *, time_to_live: timedelta, details: bytes = b"") -> Registration:
        registered = await super().register_node(node_id, time_to_live=time_to_live, details=details)
        self._driver.add_own_node(registered.node.boot)
        return registered

    async def wait_for_change(self, since: int, timeout: timedelta) -> int:
        return await self._driver.wait_for_change(since, timeout)

    def subscribe(self, on_change: Callable[[Change], None], *, anything: bool = False) -> Callable[[], None]:
        return self._driver.subscribe(on_change)

    async def _read(self, script: Script[T]) -> T:
        return await self._driver.read(script)

    async def _write(self, make: Callable[[], Script[T]], change: Change = NO_TOPIC) -> T:
        return await retrying(lambda: self._driver.write(make, change), transient=self.transient, policy=self._retry)
