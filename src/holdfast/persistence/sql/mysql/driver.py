"""Driver of one MySQL store: runs scripts on pools of connections for reads, writes and claims, and group commit.

There are three pools, so an open claim never occupies a connection that it waits for. Every attempt is a separate
transaction: after a duplicate key or a deadlock everything is rolled back, because the remaining locks would cause the next
deadlock.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from functools import partial
from typing import TypeVar

from holdfast.errors import StoreClosed
from holdfast.model.changes import NO_TOPIC, Change, of_commits
from holdfast.model.commit import Commit, CommitOutcome, Failed
from holdfast.model.upkeep import MigrationReport
from holdfast.persistence import faultpoints
from holdfast.persistence.retry import RetryPolicy, retrying
from holdfast.persistence.sql.commit_grouping import SAME_VERSIONS
from holdfast.persistence.sql.group_commit import GroupCommit
from holdfast.persistence.sql.mysql.address import MysqlAddress
from holdfast.persistence.sql.mysql.change_poll import ChangePoll, count_changes
from holdfast.persistence.sql.mysql.errors import DEADLOCK, DUPLICATE, MysqlError, code_of, explained, read_only
from holdfast.persistence.sql.mysql.migrate import check_schema, migrate
from holdfast.persistence.sql.mysql.pool import Pool
from holdfast.persistence.sql.mysql.session import ConnectionUse, Session
from holdfast.persistence.sql.script import Rows, Script, Statement
from holdfast.persistence.store_state import forked, not_open
from holdfast.ports import TransientErrors

T = TypeVar("T")
C = TypeVar("C")

CommitScript = Callable[[Sequence[Commit]], Script[list[CommitOutcome]]]

POOLS = {"readers": 4, "writers": 4, "claims": 16}
"""Largest number of connections per purpose, by default. A connection is opened when it is first needed."""

_IMMEDIATE_RETRIES = {DEADLOCK: 10, DUPLICATE: 2}
"""Immediate retries by error code: for the victim of a deadlock, and for a row that was inserted between read and write."""


class MysqlDriver:
    """Usable between `open` and `close`, in the process and event loop that opened it."""

    def __init__(
        self,
        address: MysqlAddress,
        script: CommitScript,
        transient: TransientErrors,
        policy: RetryPolicy,
        pools: Mapping[str, int],
    ) -> None:
        self.address = address
        self._script = script
        self._transient = transient
        self._policy = policy
        self._pools = pools
        self._process: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._active_calls = 0
        self._prepare()

    def _prepare(self) -> None:
        """Create the objects that belong to one event loop, from `open` to `close`."""
        self._idle = asyncio.Event()
        self._readers = Pool(self.address, ConnectionUse.READ, self._pools["readers"])
        self._writers = Pool(self.address, ConnectionUse.WRITE, self._pools["writers"])
        self.claims = Pool(self.address, ConnectionUse.WRITE, self._pools["claims"])
        self._group_commit = GroupCommit(self._commit_group, SAME_VERSIONS, inline=False)
        self.changes = ChangePoll(self._count)

    async def open(self, *, migrating: bool) -> None:
        if self._process is not None:
            self.check_open()
            return

        async def bring_up_to_date() -> None:
            async with self._unpooled() as session:
                if migrating:
                    await migrate(session, self.address.database)
                await check_schema(session)

        await self._retried(bring_up_to_date)
        self._prepare()
        self._loop = asyncio.get_running_loop()
        self._process = os.getpid()

    async def close(self) -> None:
        """Finish all running calls, then close the pools."""
        if self._process is None or self._process != os.getpid():
            return
        self._process = None
        await self.changes.close()
        await self._group_commit.close()
        while self._active_calls:
            self._idle.clear()
            await self._idle.wait()
        for pool in (self._readers, self._writers, self.claims):
            await pool.close()

    async def migrate(self, *, check: bool) -> MigrationReport:
        async def apply() -> MigrationReport:
            async with self._unpooled() as session:
                return await migrate(session, self.address.database, check=check)

        return await self._retried(apply)

    async def read(self, script: Script[T]) -> T:
        """Run a script in one snapshot. A broken connection is replaced before the first reply."""
        self.check_open()
        try:
            first = next(script)
        except StopIteration as done:
            result: T = done.value
            return result
        with self._counted():
            session, rows = await self._retried(lambda: self._begin(first))
            try:
                result = await self._run_rest(session, script, rows)
            except BaseException as error:
                await self._readers.give(session, error)
                if isinstance(error, MysqlError):
                    raise explained(error, self.address) from error
                raise
            await self._readers.give(session)
            return result

    async def write(self, make: Callable[[], Script[T]], change: Change = NO_TOPIC) -> T:
        """Run a script in one transaction, which is durable when it returns."""
        self.check_open()
        with self._counted():
            return await self._retried(lambda: self._transaction(make, change))

    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        self.check_open()
        with self._counted():
            return await self._retried(lambda: self._group_commit.submit(batch))

    async def claimed(self, make: Callable[[], Script[T]], hold: Callable[[Session, T], C]) -> C:
        """Run a script whose transaction, with its locks, stays open. `hold` makes the object that owns the session."""
        self.check_open()

        async def take() -> C:
            session = await self.claims.take()
            try:
                return hold(session, await session.run(make()))
            except BaseException as error:
                await self.claims.give(session, error)
                raise

        with self._counted():
            return await self._retried(take)

    def check_open(self) -> None:
        if self._process is None:
            raise not_open()
        if self._process != os.getpid():
            raise forked()
        if self._loop is not asyncio.get_running_loop():
            raise StoreClosed("The store was opened in another event loop. Open a separate store in each loop.")

    async def wait_for_change(self, since: int, timeout: timedelta) -> int:
        self.check_open()
        return await self.changes.wait(since, timeout)

    async def _count(self) -> int:
        return await self.read(count_changes())

    async def _retried(self, operation: Callable[[], Awaitable[T]]) -> T:
        try:
            return await retrying(
                operation,
                transient=self._transient,
                policy=self._policy,
                explain=partial(read_only, address=self.address),
            )
        except MysqlError as error:
            raise explained(error, self.address) from error

    @asynccontextmanager
    async def _unpooled(self) -> AsyncIterator[Session]:
        """A connection outside the pools, for migrations. Works before the store is open."""
        session = await Session.connect(self.address, limited=False)  # A migration of a large table takes long.
        try:
            yield session
        finally:
            await session.close()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self._active_calls += 1
        try:
            yield
        finally:
            self._active_calls -= 1
            if not self._active_calls:
                self._idle.set()

    async def _begin(self, first: Statement) -> tuple[Session, Rows]:
        session = await self._readers.take()
        try:
            return session, await session.perform(first)
        except BaseException as error:
            await self._readers.give(session, error)
            raise

    async def _run_rest(self, session: Session, script: Script[T], rows: Rows) -> T:
        try:
            while True:
                rows = await session.perform(script.send(rows))
        except StopIteration as done:
            result: T = done.value
            return result
        finally:
            script.close()

    async def _transaction(self, make: Callable[[], Script[T]], change: Change, point: str | None = None) -> T:
        tried: dict[int, int] = {}
        while True:
            try:
                return await self._attempt(make, change, point)
            except MysqlError as error:
                code = code_of(error) or 0
                tried[code] = tried.get(code, 0) + 1
                if tried[code] > _IMMEDIATE_RETRIES.get(code, 0):
                    raise
            await asyncio.sleep(random.uniform(0, 0.002 * 2 ** min(sum(tried.values()), 5)))

    async def _attempt(self, make: Callable[[], Script[T]], change: Change, point: str | None) -> T:
        async with self._writers.session() as session:
            result = await session.run(make())
            if await session.commit():
                self.changes.changed(change)
        if point is not None:
            faultpoints.reached(point)
        return result

    async def _commit_group(self, batch: Sequence[Commit]) -> list[CommitOutcome]:
        """Commit a batch in one transaction. If the database refuses it, bisect until the refused commit is alone."""
        try:
            return await self._transaction(lambda: self._script(batch), of_commits(batch), "commit.done")
        except Exception as error:
            if self._transient.is_transient(error):
                raise
            if len(batch) == 1:
                return [Failed(explained(error, self.address) if isinstance(error, MysqlError) else error)]
        middle = len(batch) // 2
        return await self._commit_group(batch[:middle]) + await self._commit_group(batch[middle:])
