"""Evidence for the guards of a batch, read under the locks of the commit's transaction.

Rows are read in lock order: instances by id, guards by name, consumed rows. Accepted commits change the evidence.
"""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from holdfast.model.commit import Commit
from holdfast.model.guard import GuardKind, GuardRef
from holdfast.model.stored import InstanceKey
from holdfast.model.work import EffectRef, Owner
from holdfast.persistence.guard_rules import Holder
from holdfast.persistence.sql.script import Script, all_of, chunks, execute, grouped
from holdfast.persistence.sql.tables import moment_or_none

_PAIRS_MAX = 100
"""Number of (instance, number) pairs in one statement."""


class GuardEvidence:
    """Evidence that is read before the guards of a batch are checked."""

    def __init__(self) -> None:
        self.versions: dict[InstanceKey, int] = {}
        self.bursts: dict[tuple[InstanceKey, int], str] = {}
        self.holders: dict[tuple[str, GuardRef], Holder] = {}
        self.work: set[tuple[str, str]] = set()
        self.inbox: set[tuple[str, str]] = set()
        self.effects: dict[tuple[str, str, int], EffectRef] = {}
        self.schedules: dict[tuple[str, str], datetime | None] = {}

    def version_of(self, key: InstanceKey) -> int:
        return self.versions.get(key, 0)

    def burst_of(self, key: InstanceKey, version: int) -> str | None:
        return self.bursts.get((key, version))

    def holder_of(self, tenant: str, ref: GuardRef) -> Holder | None:
        return self.holders.get((tenant, ref))

    def has_work(self, tenant: str, work_id: str) -> bool:
        return (tenant, work_id) in self.work

    def has_inbox(self, tenant: str, stimulus_id: str) -> bool:
        return (tenant, stimulus_id) in self.inbox

    def effect_of(self, tenant: str, instance_id: str, execution: int) -> EffectRef | None:
        return self.effects.get((tenant, instance_id, execution))

    def due_of(self, tenant: str, schedule_id: str) -> datetime | None:
        return self.schedules.get((tenant, schedule_id))

    def apply(self, commit: Commit) -> None:
        """Apply an accepted commit, for the commits that follow in the batch."""
        tenant = commit.tenant
        for work_id in (*commit.work_consumed, *commit.work_dropped):
            self.work.discard((tenant, work_id))
        for stimulus_id in commit.inbox_consumed:
            self.inbox.discard((tenant, stimulus_id))
        for step in commit.schedules_fired:
            self.schedules[tenant, step.schedule_id] = step.next_due
        if commit.instance is not None:
            for ref in commit.guards_released:
                holder = self.holders.get((tenant, ref))
                if holder is not None and holder.instance_id == commit.instance.id:
                    del self.holders[tenant, ref]
            for guard in commit.guards_taken:
                self.holders[tenant, guard.ref] = Holder(commit.instance.id, guard.fingerprint)


def gather(batch: Sequence[Commit], lock: str) -> Script[GuardEvidence]:
    found = GuardEvidence()
    for tenant, commits in sorted(grouped(batch, lambda commit: commit.tenant).items()):
        yield from _versions(found, tenant, commits, lock)
        yield from _bursts(found, tenant, commits)
        yield from _holders(found, tenant, commits, lock)
        yield from _rows(found, tenant, commits, lock)
        yield from _effects(found, tenant, commits, lock)
    return found


def _versions(found: GuardEvidence, tenant: str, commits: Sequence[Commit], lock: str) -> Script[None]:
    ids = sorted(commit.instance.id for commit in commits if commit.instance is not None)
    sql = "select id, version from hf_instance where tenant = ? and id in ({marks}) order by id" + lock
    for instance_id, version in (yield from all_of(sql, (tenant,), ids)):
        found.versions[InstanceKey(tenant, instance_id)] = version


def _bursts(found: GuardEvidence, tenant: str, commits: Sequence[Commit]) -> Script[None]:
    """Read the bursts of commits with a version conflict: they may have been sent before."""
    pairs = [
        (row.id, row.version)
        for row in (commit.instance for commit in commits)
        if row is not None and found.versions.get(InstanceKey(tenant, row.id), 0) >= row.version
    ]
    sql = "select instance_id, version, burst_id from hf_journal"
    for instance_id, version, burst_id in (yield from _of_pairs(sql, "version", tenant, pairs)):
        found.bursts[InstanceKey(tenant, instance_id), version] = burst_id
    sql = (
        "select id, coalesce(first_burst, burst_id) from hf_instance"
        " where tenant = ? and id in ({marks}) and first_entries is not null"
    )
    new = sorted(name for name, version in pairs if version == 1)
    for instance_id, burst_id in (yield from all_of(sql, (tenant,), new)):
        found.bursts[InstanceKey(tenant, instance_id), 1] = burst_id


def _holders(found: GuardEvidence, tenant: str, commits: Sequence[Commit], lock: str) -> Script[None]:
    # Released guards are locked together with taken ones, in one order: two commits that swap slots do not deadlock.
    taken = {guard.ref for commit in commits for guard in commit.guards_taken}
    names = taken | {ref for commit in commits for ref in commit.guards_released}
    for kind, refs in sorted(grouped(sorted(names), lambda ref: ref.kind).items()):
        sql = (
            "select name, instance_id, fingerprint from hf_guard"
            " where tenant = ? and kind = ? and name in ({marks}) order by name" + lock
        )
        for name, instance_id, fingerprint in (
            yield from all_of(sql, (tenant, kind.value), [ref.name for ref in refs])
        ):
            found.holders[tenant, GuardRef(GuardKind(kind), name)] = Holder(instance_id, fingerprint)


def _rows(found: GuardEvidence, tenant: str, commits: Sequence[Commit], lock: str) -> Script[None]:
    work = sorted({work_id for commit in commits for work_id in commit.work_consumed})
    inbox = sorted({stimulus_id for commit in commits for stimulus_id in commit.inbox_consumed})
    schedules = sorted({step.schedule_id for commit in commits for step in commit.schedules_fired})
    where = " where tenant = ? and id in ({marks}) order by id" + lock
    found.work |= {(tenant, row[0]) for row in (yield from all_of("select id from hf_work" + where, (tenant,), work))}
    found.inbox |= {
        (tenant, row[0]) for row in (yield from all_of("select id from hf_inbox" + where, (tenant,), inbox))
    }
    for schedule_id, due in (yield from all_of("select id, due from hf_schedule" + where, (tenant,), schedules)):
        found.schedules[tenant, schedule_id] = moment_or_none(due)


def _effects(found: GuardEvidence, tenant: str, commits: Sequence[Commit], lock: str) -> Script[None]:
    pairs = [
        (commit.instance.id, ref.execution)
        for commit in commits
        if commit.instance is not None
        for ref in commit.effects_consumed
    ]
    sql = "select instance_id, execution, attempt, owner_node, owner_boot from hf_effect"
    for instance_id, execution, attempt, node, boot in (yield from _of_pairs(sql, "execution", tenant, pairs, lock)):
        found.effects[tenant, instance_id, execution] = EffectRef(execution, attempt, Owner(node, boot))


def _of_pairs(
    sql: str, number: str, tenant: str, pairs: Sequence[tuple[str, int]], lock: str = ""
) -> Script[list[Sequence[Any]]]:
    found: list[Sequence[Any]] = []
    for part in chunks(sorted(pairs), _PAIRS_MAX):
        either = " or ".join(["(instance_id = ? and " + number + " = ?)"] * len(part))
        values = [value for pair in part for value in pair]
        found += yield execute(f"{sql} where tenant = ? and ({either}){lock}", tenant, *values)
    return found
