"""Commits: the rows that one segment of one instance consumes and produces, and the outcome of writing them.

Either all guards of a commit hold or nothing of it is written (rule "Guards stand or fall together"). The guards are the
instance's version, idempotency keys and slots taken, and every consumed row (work, inbox, effect, schedule). Dropped rows
are not guards: those that exist are deleted.

A commit without an instance only settles rows: the row of a refused start, a page of a broadcast, a firing schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from holdfast.errors import BatchRefused
from holdfast.model.guard import Guard, GuardRef
from holdfast.model.record_rows import RecordRow
from holdfast.model.stored import (
    DEFAULT_TENANT,
    BookmarkRef,
    BookmarkRow,
    IncidentRow,
    InstanceKey,
    InstanceRow,
    JournalSegment,
    ValueRow,
)
from holdfast.model.work import DeadLetterRow, EffectRef, EffectRow, InboxRow, OutboxRow, ScheduleStep, WorkRow


class Commit(Struct, frozen=True):
    burst_id: str
    """Unique for this commit and equal when the commit is sent again, which makes repetition safe."""
    tenant: str = DEFAULT_TENANT
    instance: InstanceRow | None = None
    journal: JournalSegment | None = None
    """None means an empty segment."""
    guards_taken: tuple[Guard, ...] = ()
    guards_released: tuple[GuardRef, ...] = ()
    """Released if this instance holds them."""
    bookmarks_burned: tuple[BookmarkRef, ...] = ()
    bookmarks_added: tuple[BookmarkRow, ...] = ()
    work_consumed: tuple[str, ...] = ()
    work_dropped: tuple[str, ...] = ()
    """Obsolete hints (timers): deleted unless another transaction has locked them."""
    work_added: tuple[WorkRow, ...] = ()
    effects_consumed: tuple[EffectRef, ...] = ()
    effects_dropped: tuple[int, ...] = ()
    """Executions whose results are no longer needed: terminated, or lost in a race."""
    effects_canceled: tuple[int, ...] = ()
    """Executions to cancel. The rows stay, marked, until the end of each effect is committed (rule M1)."""
    effects_added: tuple[EffectRow, ...] = ()
    """A new attempt consumes the old row and adds the new one in one commit."""
    inbox_consumed: tuple[str, ...] = ()
    inbox_added: tuple[InboxRow, ...] = ()
    outbox_added: tuple[OutboxRow, ...] = ()
    incidents_added: tuple[IncidentRow, ...] = ()
    incidents_resolved: tuple[str, ...] = ()
    values_added: tuple[ValueRow, ...] = ()
    values_dropped: tuple[str, ...] = ()
    schedules_fired: tuple[ScheduleStep, ...] = ()
    dead_letters: tuple[DeadLetterRow, ...] = ()
    records: tuple[RecordRow, ...] = ()
    """Written over any stored version; each gets the next version."""

    @property
    def key(self) -> InstanceKey | None:
        return None if self.instance is None else InstanceKey(self.tenant, self.instance.id)

    @property
    def segment(self) -> JournalSegment | None:
        """The stored segment. Without entries it is empty, so that each version still names its burst."""
        if self.journal is not None or self.instance is None:
            return self.journal
        return JournalSegment(version=self.instance.version, burst_id=self.burst_id, written=self.instance.updated)


_OfTenant = WorkRow | InboxRow | OutboxRow | RecordRow


class ConflictReason(StrEnum):
    """The guard that did not hold."""

    VERSION = "version"
    """Another commit was faster, or the instance is deleted."""
    EXISTS = "exists"
    """The commit has version 1, but the instance exists."""
    KEY = "key"
    SLOT = "slot"
    WORK = "work"
    INBOX = "inbox"
    EFFECT = "effect"
    """The row has another attempt or owner, or is deleted: a late result."""
    SCHEDULE = "schedule"


class Committed(Struct, frozen=True):
    """Written and durable."""


class Conflict(Struct, frozen=True, kw_only=True):
    """A guard did not hold and nothing was written. Reload and match again, or answer with the holder."""

    reason: ConflictReason
    name: str = ""
    """The row that did not match."""
    holder: str | None = None
    """For keys and slots: the instance that holds it."""
    version: int = 0
    """For versions: the stored version; 0 if the instance does not exist."""
    other_request: bool = False
    """For keys: the request of the holder had another body."""


class Failed(Struct, frozen=True):
    """The database rejects the commit for its own content; nothing of it was written."""

    error: Exception


CommitOutcome = Committed | Conflict | Failed

COMMITTED = Committed()


def check_batch(batch: Sequence[Commit]) -> None:
    """Refuse an instance that occurs twice, rows of another tenant, and bookmarks of another instance."""
    seen: set[tuple[str, str]] = set()
    for commit in batch:
        instance = commit.instance
        if instance is not None:
            key = commit.tenant, instance.id
            if key in seen:
                raise BatchRefused(
                    f"The batch names instance '{instance.id}' twice. "
                    "Apply both stimuli to the same state and commit once."
                )
            seen.add(key)
            _check_instance(commit, instance)
        elif (
            commit.journal or commit.bookmarks_added or commit.effects_added or commit.guards_taken
            or commit.values_added or commit.incidents_added
        ):  # fmt: skip
            raise BatchRefused(
                f"Commit {commit.burst_id} has rows of an instance but no instance. Add the new row of the instance."
            )
        if commit.work_added or commit.inbox_added or commit.outbox_added or commit.dead_letters or commit.records:
            _check_tenant(commit)
            _check_records(commit)


def _check_instance(commit: Commit, instance: InstanceRow) -> None:
    if instance.burst_id != commit.burst_id or instance.version < 1:
        raise BatchRefused(
            f"The row of instance '{instance.id}' must carry the commit's burst id and a version from 1 on."
        )
    segment = commit.journal
    if segment is not None and (segment.version != instance.version or segment.burst_id != commit.burst_id):
        raise BatchRefused(f"The journal segment of instance '{instance.id}' must carry version and burst of its row.")
    tenant, name = commit.tenant, instance.id
    if instance.tenant != tenant:
        raise _of_other_tenant(commit, instance.tenant)
    own: Sequence[BookmarkRow | EffectRow | ValueRow | IncidentRow] = commit.bookmarks_added + commit.effects_added
    if commit.values_added or commit.incidents_added:
        own = (*own, *commit.values_added, *commit.incidents_added)
    for row in own:
        if row.instance_id != name:
            raise _of_other_instance(name, row.instance_id)
        if row.tenant != tenant:
            raise _of_other_tenant(commit, row.tenant)


def _of_other_instance(name: str, other: str) -> BatchRefused:
    return BatchRefused(
        f"The commit of instance '{name}' has a row of instance '{other}'. "
        "Bookmarks, effects, values and incidents go with the commit of their own instance."
    )


def _check_records(commit: Commit) -> None:
    seen: set[tuple[str, str]] = set()
    for row in commit.records:
        if (row.kind, row.id) in seen:
            raise BatchRefused(f"Commit {commit.burst_id} writes record '{row.id}' twice. Write only its final state.")
        seen.add((row.kind, row.id))


def _check_tenant(commit: Commit) -> None:
    """Checks rows that belong to the commit but not to its instance."""
    tenant = commit.tenant
    groups: tuple[Sequence[_OfTenant], ...] = (
        commit.work_added, commit.inbox_added, commit.outbox_added, commit.records,
    )  # fmt: skip
    for rows in groups:
        for row in rows:
            if row.tenant != tenant:
                raise _of_other_tenant(commit, row.tenant)
    for letter in commit.dead_letters:
        if letter.work.tenant != tenant:
            raise _of_other_tenant(commit, letter.work.tenant)


def _of_other_tenant(commit: Commit, tenant: str) -> BatchRefused:
    return BatchRefused(
        f"Commit {commit.burst_id} of tenant '{commit.tenant}' has a row of tenant '{tenant}'. "
        "A commit belongs to one tenant."
    )
