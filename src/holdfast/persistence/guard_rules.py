"""Guard rules: decide which commits of a batch may be written. A commit is written only if all of its guards hold.

Used by every store that reads the guarded rows under a lock and writes afterwards: memory, SQLite, MySQL. Accepted commits
change the evidence, so the second commit of a batch that takes a key or consumes a row is a conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from holdfast.model.commit import COMMITTED, Commit, CommitOutcome, Conflict, ConflictReason
from holdfast.model.guard import GuardKind, GuardRef
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.model.work import EffectRef


class Holder(NamedTuple):
    instance_id: str
    fingerprint: str


class Evidence(Protocol):
    """The stored rows that the guards of a batch refer to."""

    def version_of(self, key: InstanceKey) -> int:
        """The stored version; 0 if there is no such instance."""

    def burst_of(self, key: InstanceKey, version: int) -> str | None:
        """The burst that wrote this version. Queried only for commits with a version conflict."""

    def holder_of(self, tenant: str, ref: GuardRef) -> Holder | None: ...
    def has_work(self, tenant: str, work_id: str) -> bool: ...
    def has_inbox(self, tenant: str, stimulus_id: str) -> bool: ...
    def effect_of(self, tenant: str, instance_id: str, execution: int) -> EffectRef | None: ...
    def due_of(self, tenant: str, schedule_id: str) -> datetime | None: ...


def was_sent_before(commit: Commit, evidence: Evidence) -> bool:
    """Whether this burst already wrote its version: a retry of a commit whose outcome was unknown (M3)."""
    instance = commit.instance
    return (
        instance is not None
        and evidence.burst_of(InstanceKey(commit.tenant, instance.id), instance.version) == commit.burst_id
    )


def lost(commit: Commit, evidence: Evidence) -> Conflict | None:
    """The first guard that does not hold, in lock order: instance, guards, consumed rows."""
    return (
        _lost_version(commit.tenant, commit.instance, evidence)
        or _lost_guard(commit, evidence)
        or _lost_row(commit, evidence)
    )


def _lost_version(tenant: str, instance: InstanceRow | None, evidence: Evidence) -> Conflict | None:
    if instance is None:
        return None
    stored = evidence.version_of(InstanceKey(tenant, instance.id))
    if stored == instance.version - 1:
        return None
    reason = ConflictReason.EXISTS if instance.version == 1 else ConflictReason.VERSION
    return Conflict(reason=reason, name=instance.id, version=stored)


def _lost_guard(commit: Commit, evidence: Evidence) -> Conflict | None:
    for guard in commit.guards_taken:
        holder = evidence.holder_of(commit.tenant, guard.ref)
        if holder is None or (guard.ref in commit.guards_released and holder.instance_id == _id_of(commit)):
            continue
        return Conflict(
            reason=ConflictReason.KEY if guard.kind is GuardKind.KEY else ConflictReason.SLOT,
            name=guard.name,
            holder=holder.instance_id,
            other_request=holder.fingerprint != guard.fingerprint,
        )
    return None


def _lost_row(commit: Commit, evidence: Evidence) -> Conflict | None:
    tenant = commit.tenant
    for work_id in commit.work_consumed:
        if not evidence.has_work(tenant, work_id):
            return Conflict(reason=ConflictReason.WORK, name=work_id)
    for stimulus_id in commit.inbox_consumed:
        if not evidence.has_inbox(tenant, stimulus_id):
            return Conflict(reason=ConflictReason.INBOX, name=stimulus_id)
    for ref in commit.effects_consumed:
        if evidence.effect_of(tenant, _id_of(commit), ref.execution) != ref:
            return Conflict(reason=ConflictReason.EFFECT, name=str(ref.execution))
    for step in commit.schedules_fired:
        if evidence.due_of(tenant, step.schedule_id) != step.due:
            return Conflict(reason=ConflictReason.SCHEDULE, name=step.schedule_id)
    return None


def _id_of(commit: Commit) -> str:
    return "" if commit.instance is None else commit.instance.id


def check_guards(
    batch: Sequence[Commit], evidence: Evidence, accept: Callable[[Commit], CommitOutcome | None]
) -> list[CommitOutcome]:
    """One outcome per commit. `accept` is called for each commit whose guards hold, and changes the evidence. An outcome that
    it returns replaces `COMMITTED`."""
    outcomes: list[CommitOutcome] = []
    for commit in batch:
        conflict = lost(commit, evidence)
        if conflict is None:
            outcomes.append(accept(commit) or COMMITTED)
        elif conflict.reason in {ConflictReason.VERSION, ConflictReason.EXISTS} and was_sent_before(commit, evidence):
            outcomes.append(COMMITTED)
        else:
            outcomes.append(conflict)
    return outcomes
