"""The commit of a batch on MySQL: the shared script, but for hints.

A commit that no longer needs a timer deletes it if nobody has it in hand, else it leaves it (rule H8): whoever has it
waits for this commit's instance, and would wait for ever if this commit waited for the timer. A timer whose bookmark is
gone does no harm.
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
from holdfast.persistence.sql.script import Script, all_of, grouped
from holdfast.ports import Codec

T = TypeVar("T")

_FREE = "select id from hf_work force index (primary) where tenant = ? and id in ({marks}) order by id"


def commit_script(batch: Sequence[Commit], dialect: Dialect, codec: Codec) -> Script[list[CommitOutcome]]:
    found = yield from _by_primary_key(gather(batch, dialect.lock))
    survivors: list[Commit] = []

    def accept(commit: Commit) -> None:
        found.apply(commit)
        if commit.instance is not None:  # callers who race for the same version are judged together
            key = InstanceKey(commit.tenant, commit.instance.id)
            found.versions[key] = commit.instance.version
            found.bursts[key, commit.instance.version] = commit.burst_id
        survivors.append(commit)

    outcomes = check_guards(batch, found, accept)
    survivors = yield from _without_held_hints(survivors, dialect)
    faultpoints.reached("commit.locked")
    for statement in writes(survivors, dialect, codec):
        if statement.values:
            yield statement
    faultpoints.reached("commit.written")
    return outcomes


def _by_primary_key(script: Script[T]) -> Script[T]:
    """A small table would be scanned otherwise, and others' rows waited for that the batch has nothing to do with."""
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
