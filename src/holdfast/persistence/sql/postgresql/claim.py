"""Claims: work rows are locked in the claim's own transaction, which its first commit ends.

Rows of other claims are skipped. A claim writes nothing, so the rows of a dead process are released with its connection.
Rows that the first commit did not consume are unlocked from then on, but other claims of this process leave them out until
the block ends. Consumed rows are deleted, so no claim has to leave them out.
"""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache

from holdfast.model.commit import Commit, CommitOutcome, check_batch
from holdfast.model.work import WorkRow
from holdfast.persistence import faultpoints
from holdfast.persistence.claim_turns import take_turns
from holdfast.persistence.sql.postgresql.batch_commit import Committer
from holdfast.persistence.sql.postgresql.connection import Connection
from holdfast.persistence.sql.postgresql.pool import Pool, roll_back
from holdfast.persistence.sql.work import claim_order
from holdfast.persistence.sql.work_tables import AT_ONCE, WORK
from holdfast.ports import Codec

Retried = Callable[
    [Callable[[], Awaitable[tuple[Connection, "LockedClaim"]]]], Awaitable[tuple[Connection, "LockedClaim"]]
]
_STEP = 100
NOW = "(extract(epoch from statement_timestamp()) * 1000000)::bigint"


def _rounded(limit: int) -> int:
    """Round the limit, because each limit is a separate prepared statement."""
    return limit if limit <= _STEP else -(-limit // _STEP) * _STEP


@lru_cache(maxsize=64)
def _claimable(limit: int) -> str:
    """Read two ranges of one index per queue and lock each row. Returns the epoch even if there are no rows."""

    def found(condition: str, order: str) -> str:
        return (
            f"select w.* from unnest($1::text[]) q(queue) cross join lateral (select {WORK.columns} from hf_work"
            f" where queue = q.queue and {condition} and content <> all($2::text[])"
            f" and (tenant, id) not in (select * from unnest($3::text[], $4::text[])) order by {order}"
            f" limit {limit} for update skip locked) w"
        )

    at_once = found(f"due = {AT_ONCE}", "urgency, tenant, id")
    timers = found(f"due > {AT_ONCE} and due <= {NOW}", "due, urgency, tenant, id")
    return (
        f"with at_once as materialized ({at_once}), timers as materialized ({timers})"
        f" select w.*, e.value from (select value from hf_counter where name = 'epoch') e"
        f" left join (select * from at_once union all select * from timers) w on true"
    )


UNTIL_DUE = f"""select min(w.moment) - {NOW} from unnest($1::text[]) q(queue) cross join lateral (
    (select created as moment from hf_work where queue = q.queue and due = {AT_ONCE}
        and content <> all($2::text[]) order by urgency, tenant, id limit 1)
    union all
    (select due from hf_work where queue = q.queue and due > {AT_ONCE}
        and content <> all($2::text[]) order by due, urgency, tenant, id limit 1)
) w"""
"""Microseconds until the first row of either range is due. One statement, no locks."""


class LockedClaim:
    def __init__(
        self,
        connection: Connection,
        committer: Committer,
        otherwise: Callable[[Sequence[Commit]], Awaitable[Sequence[CommitOutcome]]],
        committed: Callable[[Sequence[Commit]], None],
    ) -> None:
        self._connection = connection
        self._committer = committer
        self._otherwise = otherwise
        self._committed = committed
        self.rows: Sequence[WorkRow] = ()
        self.epoch = 0
        self.locks = True
        """Whether the transaction that holds the rows is still open."""
        self.consumed: set[tuple[str, str]] = set()
        """Rows that its commit deletes. They are locked until then."""

    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        if not (self.locks and batch):
            return await self._otherwise(batch)
        check_batch(batch)
        faultpoints.reached("commit.begin")
        self.locks = False
        self.consumed = {(commit.tenant, work_id) for commit in batch for work_id in commit.work_consumed}
        outcomes = await self._committer.commit_claimed(self._connection, batch)
        self._committed(batch)
        return outcomes


class Claims:
    """Open claims of this process."""

    def __init__(self, pool: Pool, codec: Codec, retried: Retried) -> None:
        self._pool = pool
        self._codec = codec
        self._retried = retried
        self._held: dict[tuple[str, str], LockedClaim] = {}
        """Rows of open claims. They are left out of new claims once they are unlocked."""

    @asynccontextmanager
    async def take(
        self,
        make: Callable[[Connection], LockedClaim],
        queues: Sequence[str],
        limit: int,
        lacking: Collection[str],
        without: Collection[tuple[str, str]],
    ) -> AsyncIterator[LockedClaim]:
        async def begin() -> tuple[Connection, LockedClaim]:
            return await self._begin(make, queues, limit, lacking, without)

        connection, claim = await self._retried(begin)
        try:
            faultpoints.reached("claim.taken")
            yield claim
        finally:
            for row in claim.rows:
                if self._held.get((row.tenant, row.id)) is claim:
                    del self._held[row.tenant, row.id]
            try:
                await roll_back(connection)
            finally:
                self._pool.give_back(connection)

    async def _begin(
        self,
        make: Callable[[Connection], LockedClaim],
        queues: Sequence[str],
        limit: int,
        lacking: Collection[str],
        without: Collection[tuple[str, str]],
    ) -> tuple[Connection, LockedClaim]:
        connection = await self._pool.take()
        try:
            await connection.execute("begin")
            claim = make(connection)
            unlocked = {place for place, other in self._held.items() if not other.locks}
            passed = sum(place not in self._held[place].consumed for place in unlocked)
            found = await connection.fetch(
                _claimable(_rounded(limit + passed)),
                list(queues),
                list(lacking),
                [key[0] for key in without],
                [key[1] for key in without],
            )
            claim.epoch = found[0][-1]
            rows = [WORK.decode(row, self._codec) for row in found if row[1] is not None]
        except BaseException:
            connection.terminate()
            self._pool.give_back(connection)
            raise
        rows = [row for row in rows if (row.tenant, row.id) not in unlocked]
        claim.rows = take_turns(sorted(rows, key=claim_order), limit)
        self._held.update(((row.tenant, row.id), claim) for row in claim.rows)
        return connection, claim
