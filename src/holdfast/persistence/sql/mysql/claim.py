"""Claims: work rows are locked as long as the claim's transaction is open; other claims skip them (SKIP LOCKED).

The claim's commit uses that transaction. It locks its instances after its work rows, against the lock order. This cannot
deadlock: no commit waits for a work row that it only drops (see `commits`), and a commit that consumes a row of another
process' claim fails at once and is retried.

When the same process changes rows of its own claim (count an attempt, defer a row), it releases the locks first. From then
on, its other claims leave these rows out by their keys, and other processes are stopped by the guard of the consuming commit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Protocol

from holdfast.errors import StoreError
from holdfast.model.commit import Commit, CommitOutcome, Committed, check_batch
from holdfast.model.work import WorkRow
from holdfast.persistence import faultpoints
from holdfast.persistence.sql.mysql.errors import MysqlError
from holdfast.persistence.sql.mysql.pool import Pool
from holdfast.persistence.sql.mysql.session import Session
from holdfast.persistence.sql.script import Script

RowKey = tuple[str, str]


class ClaimStore(Protocol):
    """The part of the store that a claim uses."""

    def script_of(self, batch: Sequence[Commit]) -> Script[list[CommitOutcome]]: ...
    def committed(self, batch: Sequence[Commit]) -> None: ...
    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]: ...


def key_of(row: WorkRow) -> RowKey:
    return row.tenant, row.id


class MysqlClaim:
    def __init__(self, store: ClaimStore, pool: Pool, session: Session, rows: Sequence[WorkRow], epoch: int) -> None:
        self._store = store
        self._pool = pool
        self._session: Session | None = session
        self._turn = asyncio.Lock()
        self.rows = rows
        self.epoch = epoch
        self.consumed: set[RowKey] = set()
        """Work rows that its commits have consumed."""

    @property
    def locked(self) -> bool:
        return self._session is not None

    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        """Commit in the claim's own transaction. If that fails, commit like any other batch, by its guards."""
        check_batch(batch)
        if not batch:
            return []
        async with self._turn:
            if self._session is not None:
                faultpoints.reached("commit.begin")
                outcomes = await self._commit_in_claim(self._session, batch)
                if outcomes is not None:
                    return self._note_consumed(batch, outcomes)
        return self._note_consumed(batch, await self._store.commit(batch))

    def _note_consumed(self, batch: Sequence[Commit], outcomes: Sequence[CommitOutcome]) -> Sequence[CommitOutcome]:
        for commit, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, Committed):
                self.consumed.update((commit.tenant, work_id) for work_id in commit.work_consumed)
        return outcomes

    async def _commit_in_claim(self, session: Session, batch: Sequence[Commit]) -> list[CommitOutcome] | None:
        self._session = None
        try:
            outcomes = await session.run(self._store.script_of(batch))
            if await session.commit():
                self._store.committed(batch)
        except BaseException as error:
            await self._pool.give(session, error)
            if isinstance(error, MysqlError | OSError | StoreError):
                return None
            raise
        await self._pool.give(session)
        faultpoints.reached("commit.done")
        return outcomes

    async def release(self) -> None:
        async with self._turn:
            session, self._session = self._session, None
            if session is not None:
                await self._pool.give(session)


class HeldClaims:
    """Open claims of this process, by row."""

    def __init__(self) -> None:
        self._claims: dict[RowKey, MysqlClaim] = {}

    def hold(self, claim: MysqlClaim) -> None:
        self._claims.update(dict.fromkeys(map(key_of, claim.rows), claim))

    def drop(self, claim: MysqlClaim) -> None:
        for row in claim.rows:
            if self._claims.get(key_of(row)) is claim:
                del self._claims[key_of(row)]

    def unlocked(self) -> frozenset[RowKey]:
        """Rows of open claims that are no longer locked: other claims must leave them out."""
        return frozenset(key for key, claim in self._claims.items() if not claim.locked and key not in claim.consumed)

    async def release(self, keys: Collection[RowKey]) -> None:
        if self._claims:
            for claim in {self._claims[key] for key in keys if key in self._claims}:
                await claim.release()
