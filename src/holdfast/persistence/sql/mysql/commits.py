"""Commit script of MySQL: the shared script, except for dropped work rows.

A commit that no longer needs a timer deletes its work row unless a claim holds it (rule H8). That claim waits for the
instance of this commit, so waiting for the row would be a deadlock. A timer without its bookmark is harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from holdfast.model.commit import Commit, CommitOutcome
from holdfast.model.stored import InstanceKey
from holdfast.persistence import faultpoints
from holdfast.persistence.guard_rules import check_guards
from holdfast.persistence.sql.commits import writes
from holdfast.persistence.sql.dialect import Dialect
from holdfast.persistence.sql.guard_evidence import gather
from holdfast.persistence.sql.mysql.statements import rewritten
from holdfast.persistence.sql.mysql.tally_deltas import count_commits
from holdfast.persistence.sql.script import Script, all_of, grouped
from holdfast.ports import Codec

T = TypeVar("T")

_FREE = "select id from hf_work force index (primary) where tenant = ? and id in ({marks}) order by id"


def commit_script(batch: Sequence[Commit], dialect: Dialect, codec: Codec) -> Script[list[CommitOutcome]]:
    found = yield from _by_primary_key(gather(batch, dialect.lock))
    survivors: list[Commit] = []

    def accept(commit: Commit) -> None:
        found.apply(commit)
        if commit.instance is not None:  # Callers that compete for the same version may share a batch.
            key = InstanceKey(commit.tenant, commit.instance.id)
            found.versions[key] = commit.instance.version
            found.bursts[key, commit.instance.version] = commit.burst_id
        survivors.append(commit)

    outcomes = check_guards(batch, found, accept)
    survivors = yield from _without_held_hints(survivors, dialect)
    faultpoints.reached("commit.locked")
    yield from count_commits(survivors)
    for statement in writes(survivors, dialect, codec):
        if statement.values:
            yield statement
    faultpoints.reached("commit.written")
    return outcomes


def _by_primary_key(script: Script[T]) -> Script[T]:
    """Force the primary key: MySQL would scan a small table, and wait for locked rows that the batch does not use."""
    return rewritten(script, lambda sql: sql.replace(" where ", " force index (primary) where ", 1))


def _without_held_hints(commits: Sequence[Commit], dialect: Dialect) -> Script[list[Commit]]:
    free: set[tuple[str, str]] = set()
    dropping = [commit for commit in commits if commit.work_dropped]
    for tenant, group in grouped(dropping, lambda commit: commit.tenant).items():
        ids = sorted({work_id for commit in group for work_id in commit.work_dropped})
        rows = yield from all_of(_FREE + dialect.lock_free, (tenant,), ids)
        free |= {(tenant, row[0]) for row in rows}
    return [
        replace(commit, work_dropped=tuple(each for each in commit.work_dropped if (commit.tenant, each) in free))
        if commit.work_dropped
        else commit
        for commit in commits
    ]
