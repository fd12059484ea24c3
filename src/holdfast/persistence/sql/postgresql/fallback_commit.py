"""Fallback for commits that the batch statement did not write: find the conflict, or commit each one alone.

The guards are first read in one snapshot without locks. A guard that does not hold in a snapshot taken after the commit was
sent is a conflict, and a burst that is in the journal was committed. Versions are read before the other guards, because most
conflicts are version conflicts. A commit without a conflict is then written alone: its instance is locked, its guards are
checked as in every store, and its rows are written.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from holdfast.model.commit import COMMITTED, Commit, CommitOutcome, Conflict, ConflictReason, Failed
from holdfast.persistence.guard_rules import lost, was_sent_before
from holdfast.persistence.sql.commits import commit_script
from holdfast.persistence.sql.guard_evidence import gather
from holdfast.persistence.sql.postgresql.connection import Connection, explained, is_poison, is_there_already, run
from holdfast.persistence.sql.postgresql.dialect import POSTGRESQL
from holdfast.persistence.sql.postgresql.pool import Pool
from holdfast.persistence.sql.postgresql.rows import commit_row
from holdfast.persistence.sql.postgresql.statement import ROW_TYPE
from holdfast.ports import Codec

_ATTEMPTS_MAX = 200
_RETRY_INTERVAL = 0.005
"""Attempts, and average seconds between them, to lock a work row that a claim holds."""
_COLLISIONS_MAX = 5
"""Attempts to write a commit whose key, slot or id another process takes at the same moment."""
SNAPSHOT = "begin isolation level repeatable read read only"


class _ClaimedElsewhere(Exception):
    """A claim holds the work row."""

    def __init__(self, work_id: str) -> None:
        self.work_id = work_id
        super().__init__(work_id)


class FallbackCommitter:
    def __init__(self, pool: Pool, lookups: Pool, codec: Codec, url: str) -> None:
        self._pool = pool
        self._lookups = lookups
        self._codec = codec
        self._url = url

    async def settle(
        self,
        losers: Sequence[tuple[int, Commit]],
        added: set[tuple[str, str]],
        known: Callable[[int, CommitOutcome], None],
    ) -> None:
        """Report one outcome per commit to `known`. `added` are work and inbox rows that the batch has just written."""
        losers = await self._without_version_conflicts(losers, known)
        if not losers:
            return
        async with self._pool.transaction(SNAPSHOT) as connection:
            found = await run(connection, gather([commit for _, commit in losers], ""))
        for place, commit in losers:
            conflict = lost(commit, found) or _lost_to_batch(commit, added)
            if conflict is None:
                known(place, await self._commit_alone(commit))
            elif conflict.reason in {ConflictReason.VERSION, ConflictReason.EXISTS} and was_sent_before(commit, found):
                known(place, COMMITTED)
            else:
                known(place, conflict)

    async def _without_version_conflicts(
        self, losers: Sequence[tuple[int, Commit]], known: Callable[[int, CommitOutcome], None]
    ) -> list[tuple[int, Commit]]:
        """Report the outcome of commits with a version conflict, and return the others."""
        commits = [commit_row(number, commit, 0) for number, (_, commit) in enumerate(losers)]
        async with self._lookups.connection() as connection:
            found = await connection.fetch(_VERSIONS, commits)
        versions = {number: (version, burst_id) for number, version, burst_id in found}
        left: list[tuple[int, Commit]] = []
        for number, (place, commit) in enumerate(losers):
            row = commit.instance
            version, burst_id = versions[number]
            if row is None or version == row.version - 1:
                left.append((place, commit))
            elif burst_id == commit.burst_id:
                known(place, COMMITTED)
            else:
                reason = ConflictReason.EXISTS if row.version == 1 else ConflictReason.VERSION
                known(place, Conflict(reason=reason, name=row.id, version=version))
        return left

    async def _commit_alone(self, commit: Commit) -> CommitOutcome:
        collisions = 0
        for _ in range(_ATTEMPTS_MAX):
            try:
                async with self._pool.transaction() as connection:
                    return await self._write(connection, commit)
            except _ClaimedElsewhere as held:
                work_id = held.work_id
            except Exception as error:
                if is_there_already(error) and collisions < _COLLISIONS_MAX:
                    collisions += 1
                    continue  # A row that did not exist cannot be locked. Now it exists: the check of the guards finds it.
                if not is_poison(error):
                    raise
                return failed(error, self._url)
            await asyncio.sleep(_RETRY_INTERVAL * random.uniform(0.5, 1.5))
        return Conflict(reason=ConflictReason.WORK, name=work_id)

    async def _write(self, connection: Connection, commit: Commit) -> CommitOutcome:
        """Write one commit in lock order: the instance, then work rows that claims may hold, then the other guards."""
        tenant, row = commit.tenant, commit.instance
        if row is not None:
            sql = "select 1 from hf_instance where tenant = $1 and id = $2 for update"
            await connection.fetch(sql, tenant, row.id)
        await _take_work(connection, commit)
        alone = replace(commit, work_dropped=(), guards_taken=tuple(sorted(commit.guards_taken, key=_name)))
        outcome = (await run(connection, commit_script([alone], POSTGRESQL, self._codec)))[0]
        if outcome is COMMITTED:
            if commit.work_dropped:
                await connection.execute(_DROP, tenant, list(commit.work_dropped))
            if row is not None:
                await connection.execute(_LIST, row.version == 1, tenant, row.id)
        return outcome


def _name(guard: object) -> tuple[str, str]:
    return getattr(guard, "kind"), getattr(guard, "name")  # noqa: B009


_VERSIONS = f"""select u.number, coalesce(i.version, 0),
    case when u.version = 1 and i.first_entries is not null then coalesce(i.first_burst, i.burst_id) else j.burst_id end
    from unnest($1::{ROW_TYPE}commits[]) u
    left join hf_instance i on i.tenant = u.tenant and i.id = u.id
    left join hf_journal j on j.tenant = u.tenant and j.instance_id = u.id and j.version = u.version"""  # noqa: S608
_LIST = """insert into hf_unlisted (shard, is_new, tenants, ids, createds)
    select hf_shard(id), $1, array[tenant], array[id], array[created] from hf_instance where tenant = $2 and id = $3"""
_DROP = """delete from hf_work t using (
    select tenant, id from hf_work where tenant = $1 and id = any($2) for update skip locked
) u where t.tenant = u.tenant and t.id = u.id"""
_EXISTING = "select id from hf_work where tenant = $1 and id = any($2)"


async def _take_work(connection: Connection, commit: Commit) -> None:
    """Lock the consumed work rows, without ever waiting for a claim."""
    if commit.work_consumed:
        parameters = (commit.tenant, list(commit.work_consumed))
        locked = {
            row[0] for row in await connection.fetch(_EXISTING + " order by id for update skip locked", *parameters)
        }
        for row in await connection.fetch(_EXISTING, *parameters):
            if row[0] not in locked:
                raise _ClaimedElsewhere(row[0])


def _lost_to_batch(commit: Commit, added: set[tuple[str, str]]) -> Conflict | None:
    """The conflict of a commit that consumes a row which another commit of the same batch adds."""
    if added:
        for reason, names in (
            (ConflictReason.WORK, commit.work_consumed),
            (ConflictReason.INBOX, commit.inbox_consumed),
        ):
            for name in names:
                if (commit.tenant, name) in added:
                    return Conflict(reason=reason, name=name)
    return None


def failed(error: Exception, url: str) -> Failed:
    shown = explained(error, url)
    shown.__cause__ = error
    return Failed(shown)
