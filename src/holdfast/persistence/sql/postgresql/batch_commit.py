"""Commit of a batch: sends the statement, handles errors, and returns one outcome per commit.

Known outcomes are kept: after a lost connection, only the other commits are sent again. Sending a commit again is safe,
because a burst that was committed is found by its id (rule M3).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from holdfast.model.commit import COMMITTED, Commit, CommitOutcome
from holdfast.persistence import faultpoints
from holdfast.persistence.retry import RetryPolicy, retrying
from holdfast.persistence.sql.postgresql.connection import (
    Connection,
    breaks_connection,
    is_poison,
    is_refused_guard,
    is_there_already,
    read_only,
)
from holdfast.persistence.sql.postgresql.fallback_commit import FallbackCommitter, failed
from holdfast.persistence.sql.postgresql.pool import Pool, in_transaction, roll_back
from holdfast.persistence.sql.postgresql.rows import BatchRows, rows_of
from holdfast.persistence.sql.postgresql.statement import statement_of
from holdfast.ports import Codec, TransientErrors

_Placed = Sequence[tuple[int, Commit]]
_Outcomes = list[CommitOutcome | None]
"""Outcomes by the index in the batch; None while unknown."""
_CAUTIOUS_STATEMENTS = 16
"""Statements that check their guards first, after a guard was refused. Under contention, sending a batch twice costs more
than this check."""


class Committer:
    def __init__(
        self,
        lanes: Pool,
        fallback: FallbackCommitter,
        codec: Codec,
        url: str,
        transient: TransientErrors,
        policy: RetryPolicy,
    ) -> None:
        self._lanes = lanes
        self._fallback = fallback
        self._codec = codec
        self._url = url
        self._transient = transient
        self._policy = policy
        self._cautious = 0
        """Number of further statements that check guards first."""

    async def commit(self, batch: Sequence[Commit]) -> list[CommitOutcome]:
        outcomes: _Outcomes = [None] * len(batch)

        async def attempt() -> list[CommitOutcome]:
            async with self._lanes.connection() as connection:
                await self._write(connection, _without_outcome(batch, outcomes), outcomes)
            return await self._complete(batch, outcomes)

        return await self._retried(attempt)

    async def _retried(self, attempt: Callable[[], Awaitable[list[CommitOutcome]]]) -> list[CommitOutcome]:
        explain = partial(read_only, url=self._url)
        return await retrying(attempt, transient=self._transient, policy=self._policy, explain=explain)

    async def commit_claimed(self, connection: Connection, batch: Sequence[Commit]) -> list[CommitOutcome]:
        """Commit in the open transaction of a claim, and end that transaction. After an error, commit without the claim:
        the claimed rows are consumed, which is a guard."""
        placed = _in_order(list(enumerate(batch)))
        outcomes: _Outcomes = [None] * len(batch)
        try:
            rows = rows_of([commit for _, commit in placed], self._codec)
            done = await self._fetch(connection, rows, confident=rows.may_be_confident(claimed=True))
            faultpoints.reached("commit.written")
            await connection.execute("commit")
            faultpoints.reached("commit.done")
        except Exception as error:  # noqa: BLE001 - the retry without the claim raises it again if it persists
            if breaks_connection(error):
                connection.terminate()
            await roll_back(connection)
            return await self.commit(batch)
        _mark_written(placed, done, outcomes)
        return await self._retried(lambda: self._complete(batch, outcomes))

    async def _write(self, connection: Connection, batch: _Placed, outcomes: _Outcomes) -> None:
        """Write a batch with one statement. If the database refuses it, bisect until the refused commit is alone."""
        placed = _in_order(batch)
        if not placed:
            return
        try:
            done = await self._send(connection, rows_of([commit for _, commit in placed], self._codec))
        except Exception as error:
            refused = is_refused_guard(error)
            if not (refused or is_poison(error)):
                raise
            if len(placed) > 1:
                middle = len(placed) // 2
                await self._write(connection, placed[:middle], outcomes)
                await self._write(connection, placed[middle:], outcomes)
            elif not refused:
                outcomes[placed[0][0]] = failed(error, self._url)
            return
        _mark_written(placed, done, outcomes)

    async def _send(self, connection: Connection, rows: BatchRows) -> Sequence[int]:
        """Send the statement; returns the numbers of the written commits. This is on the latency path of a lone commit."""
        if faultpoints.hook is not None:
            return await self._send_in_steps(connection, rows)
        if self._cautious:
            self._cautious -= 1
        elif rows.may_be_confident(claimed=False):
            text, values = statement_of(rows, confident=True)
            try:
                await connection.fetch(text, *values)
            except Exception as error:
                if not (is_refused_guard(error) or is_there_already(error)):
                    raise
                self._cautious = _CAUTIOUS_STATEMENTS  # Nothing was written: at least one guard did not hold.
            else:
                return range(len(rows.batch))
        return await self._fetch(connection, rows)

    async def _send_in_steps(self, connection: Connection, rows: BatchRows) -> Sequence[int]:
        """Send the statement in a transaction with fault points, for tests."""
        async with in_transaction(connection):
            faultpoints.reached("commit.locked")
            done = await self._fetch(connection, rows)
            faultpoints.reached("commit.written")
        faultpoints.reached("commit.done")
        return done

    async def _fetch(self, connection: Connection, rows: BatchRows, *, confident: bool = False) -> Sequence[int]:
        text, values = statement_of(rows, confident=confident)
        found = await connection.fetch(text, *values)
        return range(len(rows.batch)) if confident else found[0][0]

    async def _complete(self, batch: Sequence[Commit], outcomes: _Outcomes) -> list[CommitOutcome]:
        """One outcome per commit. The fallback decides about commits that were not written."""
        if None in outcomes:
            written = [commit for place, commit in enumerate(batch) if outcomes[place] is COMMITTED]
            await self._fallback.settle(_without_outcome(batch, outcomes), _added(written), outcomes.__setitem__)
        return [outcome for outcome in outcomes if outcome is not None]


def _without_outcome(batch: Sequence[Commit], outcomes: _Outcomes) -> _Placed:
    return [(place, commit) for place, commit in enumerate(batch) if outcomes[place] is None]


def _mark_written(placed: _Placed, done: Sequence[int], outcomes: _Outcomes) -> None:
    if len(done) == len(outcomes):
        outcomes[:] = [COMMITTED] * len(outcomes)
    else:
        for number in done:
            outcomes[placed[number][0]] = COMMITTED


def _in_order(batch: _Placed) -> _Placed:
    """Sort by (tenant, instance), which is the lock order. Leave out commits that need a row which an earlier one takes."""
    if len(batch) == 1:
        return batch
    first: list[tuple[int, Commit]] = []
    taken: set[tuple[str, ...]] = set()
    for place, commit in batch:
        if (
            commit.guards_taken
            or commit.work_consumed
            or commit.inbox_consumed
            or commit.schedules_fired
            or commit.records
        ):
            rows = _exclusive_rows(commit)
            if not taken.isdisjoint(rows):
                continue
            taken.update(rows)
        first.append((place, commit))
    first.sort(key=_lock_order)
    return first


def _lock_order(placed: tuple[int, Commit]) -> tuple[str, str]:
    row = placed[1].instance
    return (placed[1].tenant, "") if row is None else (row.tenant, row.id)


def _exclusive_rows(commit: Commit) -> list[tuple[str, ...]]:
    tenant = commit.tenant
    rows: list[tuple[str, ...]] = [("work", tenant, name) for name in commit.work_consumed]
    if commit.inbox_consumed or commit.schedules_fired or commit.guards_taken or commit.records:
        rows += [("inbox", tenant, name) for name in commit.inbox_consumed]
        rows += [("schedule", tenant, step.schedule_id) for step in commit.schedules_fired]
        rows += [(guard.kind.value, tenant, guard.name) for guard in commit.guards_taken]
        rows += [("record", tenant, row.kind, row.id) for row in commit.records]
    return rows


def _added(commits: Sequence[Commit]) -> set[tuple[str, str]]:
    added: set[tuple[str, str]] = set()
    for commit in commits:
        added.update((commit.tenant, row.id) for row in commit.work_added)
        added.update((commit.tenant, row.id) for row in commit.inbox_added)
    return added
