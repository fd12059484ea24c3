"""MySQL store: the shared parts of SQL stores on the MySQL driver."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import TypeVar

from msgspec.structs import replace

from holdfast.model.changes import NO_TOPIC, Change, of_commits, of_rows
from holdfast.model.commit import Commit, CommitOutcome, check_batch
from holdfast.model.upkeep import InstanceExport, MigrationReport
from holdfast.model.work import InboxRow, WorkRow
from holdfast.persistence import faultpoints
from holdfast.persistence.claim_turns import take_turns
from holdfast.persistence.codec import PayloadCodec
from holdfast.persistence.retry import DEFAULT_POLICY, DEFAULT_TRANSIENT, RetryPolicy, TransientTypes
from holdfast.persistence.sql.connection_shares import connection_shares
from holdfast.persistence.sql.definitions import SqlDefinitions
from holdfast.persistence.sql.dialect import Dialect
from holdfast.persistence.sql.effects import SqlEffects
from holdfast.persistence.sql.export_import import SqlExportImport
from holdfast.persistence.sql.inbox_outbox import SqlInboxOutbox
from holdfast.persistence.sql.mysql.address import MysqlAddress
from holdfast.persistence.sql.mysql.claim import HeldClaims, MysqlClaim, key_of
from holdfast.persistence.sql.mysql.commits import commit_script
from holdfast.persistence.sql.mysql.driver import POOLS, MysqlDriver
from holdfast.persistence.sql.mysql.errors import MysqlTransient
from holdfast.persistence.sql.mysql.statements import rewritten
from holdfast.persistence.sql.mysql.tally_deltas import TALLIES, count_deleted, count_imported
from holdfast.persistence.sql.mysql.tally_fold import TallyFolder
from holdfast.persistence.sql.nodes import SqlNodes
from holdfast.persistence.sql.pulse import SqlPulse
from holdfast.persistence.sql.reads import SqlReads
from holdfast.persistence.sql.records import SqlRecords
from holdfast.persistence.sql.script import Script, execute, marks
from holdfast.persistence.sql.store_base import system_now
from holdfast.persistence.sql.tallied_search import TalliedSearch
from holdfast.persistence.sql.tallied_upkeep import TalliedUpkeep
from holdfast.persistence.sql.work import SqlWork, claim_order
from holdfast.persistence.sql.work_tables import AT_ONCE, WORK
from holdfast.ports import Codec, TransientErrors

T = TypeVar("T")

_SKIP = " on duplicate key update tenant = tenant"
"""Not INSERT IGNORE, which also ignores truncated and out-of-range values (Y2)."""

MYSQL = Dialect(
    name="mysql",
    lock=" for update",
    lock_free=" for update skip locked",
    skip_existing=_SKIP.strip(),
    over_existing="on duplicate key update",
    new_value="values({column})",
    now="select cast(unix_timestamp(now(6)) * 1000000 as signed)",
    # Columns hold bytes, which have no lower case. The Hebrew character set lowers only ASCII and keeps other bytes.
    contains="instr(cast(lower(convert({column} using hebrew)) as binary), ?) > 0",
    compares_pairs=False,
    by_index=" force index ({index})",
    by_name=" force index (hf_instance_name)",
    by_id=" force index (primary)",
    tallies=TALLIES,
)


class MysqlStore(
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
    name = "mysql"

    def __init__(
        self,
        address: MysqlAddress,
        *,
        codec: Codec | None = None,
        now: Callable[[], datetime] | None = None,
        retry: RetryPolicy = DEFAULT_POLICY,
        transient: TransientErrors | None = None,
        connections: int | None = None,
    ) -> None:
        """`now` replaces the server's clock, for tests. `connections` is the largest number of connections, without the one of
        the heartbeat."""
        dialect = MYSQL if now is None else replace(MYSQL, now=None)
        super().__init__(dialect, codec or PayloadCodec(), now or system_now)
        known = TransientTypes(others=(DEFAULT_TRANSIENT, MysqlTransient()))
        self.transient: TransientErrors = known if transient is None else known.extended(transient)
        self._held_claims = HeldClaims()
        pools = connection_shares(connections, POOLS, single=0, store="MariaDB")
        self._driver = MysqlDriver(address, self.script_of, self.transient, retry, pools)
        self._folder = TallyFolder(self._driver.write)

    async def open(self, *, migrate: bool = True) -> None:
        await self._driver.open(migrating=migrate)

    async def close(self) -> None:
        await self._folder.close()
        await self._driver.close()

    async def migrate(self, *, check: bool = False) -> MigrationReport:
        return await self._driver.migrate(check=check)

    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        check_batch(batch)
        if not batch:
            return []
        faultpoints.reached("commit.begin")
        await self._held_claims.release(
            [(commit.tenant, work_id) for commit in batch for work_id in commit.work_consumed]
        )
        outcomes = await self._driver.commit(batch)
        self._folder.mark()
        return outcomes

    def script_of(self, batch: Sequence[Commit]) -> Script[list[CommitOutcome]]:
        return commit_script(batch, self._dialect, self._codec)

    def committed(self, batch: Sequence[Commit]) -> None:
        """Publish a batch that a claim has committed."""
        self._driver.changes.changed(of_commits(batch))
        self._folder.mark()

    @asynccontextmanager
    async def claim(
        self,
        queues: Sequence[str],
        limit: int,
        *,
        lacking: Collection[str] = (),
        without: Collection[tuple[str, str]] = (),
    ) -> AsyncIterator[MysqlClaim]:
        claim = await self._driver.claimed(
            lambda: self._claim(queues, limit, lacking, without),
            lambda session, found: MysqlClaim(self, self._driver.claims, session, *found),
        )
        self._held_claims.hold(claim)
        try:
            faultpoints.reached("claim.taken")
            yield claim
        finally:
            self._held_claims.drop(claim)
            await claim.release()

    def _claim(
        self, queues: Sequence[str], limit: int, lacking: Collection[str], without: Collection[tuple[str, str]]
    ) -> Script[tuple[list[WorkRow], int]]:
        rows = yield from self._claimable(queues, limit, lacking, self._held_claims.unlocked().union(without))
        epoch = yield from self._epoch()
        return rows, epoch

    def _claimable(
        self, queues: Sequence[str], limit: int, lacking: Collection[str], held: Collection[tuple[str, str]]
    ) -> Script[list[WorkRow]]:
        """The shared query, but in the exact order of the index: MySQL would lock all rows that it has to sort."""
        now = yield from self._micros_now()
        others = f" and content not in ({marks(len(lacking))})" if lacking else ""
        others += " and not (tenant = ? and id = ?)" * len(held)
        left_out = (*lacking, *(part for key in held for part in key))
        found: list[WorkRow] = []
        for condition, moment in (("due = ?", AT_ONCE), (f"due > {AT_ONCE} and due <= ?", now)):
            for queue in queues:
                rows = yield execute(
                    f"{WORK.select} force index (hf_work_order) where queue = ? and {condition}{others}"
                    f" order by queue, due, urgency, tenant, id limit {limit}{self._dialect.lock_free}",
                    queue,
                    moment,
                    *left_out,
                )
                found += WORK.rows(rows, self._codec)
        return take_turns(sorted(found, key=claim_order), limit)

    async def enqueue(self, rows: Sequence[WorkRow]) -> Sequence[bool]:
        return await self._write(lambda: _refusing(self._enqueue(rows)), of_rows(rows))

    async def put_inbox(self, rows: Sequence[InboxRow], work: Sequence[WorkRow] = ()) -> Sequence[bool]:
        return await self._write(lambda: _refusing(self._put(rows, work)), of_rows(work))

    async def move_work(
        self, row: WorkRow, *, attempts: int, due: datetime | None, content: str | None = None
    ) -> WorkRow | None:
        await self._held_claims.release([key_of(row)])
        return await super().move_work(row, attempts=attempts, due=due, content=content)

    async def defer(self, rows: Sequence[WorkRow], due: datetime) -> None:
        await self._held_claims.release(list(map(key_of, rows)))
        await super().defer(rows, due)

    def _delete_rows(self, tenant: str, ids: Sequence[str], now: int) -> Script[None]:
        yield from count_deleted(tenant, ids)
        yield from super()._delete_rows(tenant, ids, now)

    def _import(self, export: InstanceExport) -> Script[None]:
        yield from super()._import(export)
        yield from count_imported(export.instance)

    def _delete_unused(self, limit: int) -> Script[int]:
        """Lock the epoch first: a transaction that saves a version holds it, and may refer to unused content."""
        yield execute(f"select value from hf_counter where name = 'epoch'{self._dialect.lock}")
        return (yield from super()._delete_unused(limit))

    async def wait_for_change(self, since: int, timeout: timedelta) -> int:
        return await self._driver.wait_for_change(since, timeout)

    def subscribe(self, on_change: Callable[[Change], None], *, anything: bool = False) -> Callable[[], None]:
        self._driver.check_open()
        return self._driver.changes.subscribe(on_change)

    async def _read(self, script: Script[T]) -> T:
        return await self._driver.read(script)

    async def _write(self, make: Callable[[], Script[T]], change: Change = NO_TOPIC) -> T:
        return await self._driver.write(make, change)


def _refusing(script: Script[T]) -> Script[T]:
    """The script with inserts that fail for a row which was inserted after the read. The script then runs again and reads it."""
    return rewritten(script, lambda sql: sql.removesuffix(_SKIP))
