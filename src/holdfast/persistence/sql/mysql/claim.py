"""Claims: work rows that are locked as long as the claim's transaction is open, skipped by all others (SKIP LOCKED).

The claim's commit is that transaction. It takes its instances' locks after its rows', against the order of locks; that
makes no circle, since no commit ever waits for a row as a hint (see `commits`), and a commit that consumes a row which
another process has in hand is told by the server at once and comes again.

What the same process asks for rows in its own hands (count an attempt, put one back) lets go of the locks first: the
rows are kept from its other claims by name, and from other processes by the guard of whoever consumes them.
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
    """What a claim needs of its store."""

    def script_of(self, batch: Sequence[Commit]) -> Script[list[CommitOutcome]]: ...
    def notify_change(self) -> None: ...
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
        """What its commits were let to consume: gone."""

    @property
    def locked(self) -> bool:
        return self._session is not None

    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        """In the claim's own transaction, if it goes well the first time; else as any commit, by its guards."""
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
                self._store.notify_change()
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
    """What the claims of this process hold, by row."""

    def __init__(self) -> None:
        self._claims: dict[RowKey, MysqlClaim] = {}

    def hold(self, claim: MysqlClaim) -> None:
        self._claims.update(dict.fromkeys(map(key_of, claim.rows), claim))

    def drop(self, claim: MysqlClaim) -> None:
        for row in claim.rows:
            if self._claims.get(key_of(row)) is claim:
                del self._claims[key_of(row)]

    def unlocked(self) -> frozenset[RowKey]:
        """Rows that only their names keep from other claims."""
        return frozenset(key for key, claim in self._claims.items() if not claim.locked and key not in claim.consumed)

    async def release(self, keys: Collection[RowKey]) -> None:
        if self._claims:
            for claim in {self._claims[key] for key in keys if key in self._claims}:
                await claim.release()
