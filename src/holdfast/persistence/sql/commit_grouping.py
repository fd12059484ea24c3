"""Rules of group commit: which batches of different callers share one commit, and which outcome belongs to which batch.

A group keeps the order of its batches and stays within a number of commits and of bytes; a batch above the limits is a
group of its own. A batch that does not fit ends the group, so small batches never overtake a large one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from holdfast.model.commit import Commit, CommitOutcome
from holdfast.model.stored import InstanceKey

COMMITS_MAX = 128
BYTES_MAX = 4_000_000

Versions = dict[InstanceKey, int]
"""The instances that a batch writes, each with its new version."""


class Pending(Protocol):
    """A batch that waits for a writer."""

    batch: Sequence[Commit]
    versions: Versions
    size: int


P = TypeVar("P", bound=Pending)


class Grouping(Struct, frozen=True):
    """The grouping rule of one database."""

    compatible: Callable[[Versions, Versions], bool]
    """Whether a batch may join a group, given the versions of both."""
    measure: Callable[[Sequence[Commit]], tuple[Versions, int]]
    """The versions that a batch writes, and its bytes."""

    def next_group(self, waiting: deque[P]) -> list[P]:
        """Take the next group. The batches that stay behind keep their order."""
        group: list[P] = []
        left: list[P] = []
        versions: Versions = {}
        count = size = 0
        while waiting and count < COMMITS_MAX and len(left) < COMMITS_MAX:
            job = waiting.popleft()
            if group and (count + len(job.batch) > COMMITS_MAX or size + job.size > BYTES_MAX):
                left.append(job)
                break
            if group and not self.compatible(versions, job.versions):
                left.append(job)
                continue
            group.append(job)
            versions.update(job.versions)
            count += len(job.batch)
            size += job.size
        waiting.extendleft(reversed(left))
        return group


def commits_of(group: Sequence[Pending]) -> Sequence[Commit]:
    """All commits of a group, in order."""
    if len(group) == 1:
        return group[0].batch
    return [commit for job in group for commit in job.batch]


def split(group: Sequence[P], outcomes: Sequence[CommitOutcome]) -> Iterator[tuple[P, Sequence[CommitOutcome]]]:
    """Each batch of a group with its own outcomes."""
    start = 0
    for job in group:
        end = start + len(job.batch)
        yield job, outcomes[start:end]
        start = end


def disjoint_instances(group: Versions, batch: Versions) -> bool:
    """No instance is written twice in a group: for a database that checks a whole group before it writes."""
    return group.keys().isdisjoint(batch)


def same_versions(group: Versions, batch: Mapping[InstanceKey, int]) -> bool:
    """Callers that compete for one version of an instance share a group, so the conflicts cost no transaction of their
    own. Two versions of one instance never share a group."""
    return all(group.get(key, version) == version for key, version in batch.items())


def measure_states(batch: Sequence[Commit]) -> tuple[Versions, int]:
    """Count the bytes of instance states, which are nearly all that most commits write."""
    versions: Versions = {}
    size = 0
    for commit in batch:
        row = commit.instance
        if row is not None:
            versions[InstanceKey(row.tenant, row.id)] = row.version
            size += len(row.state)
    return versions, size


def measure_payloads(batch: Sequence[Commit]) -> tuple[Versions, int]:
    """Count the bytes of all payloads: for a server that limits the size of a statement."""
    rows = [commit.instance for commit in batch if commit.instance is not None]
    return {InstanceKey(row.tenant, row.id): row.version for row in rows}, sum(map(_payload_size, batch))


def _payload_size(commit: Commit) -> int:
    parts = (
        () if commit.instance is None else (commit.instance.state,),
        () if commit.journal is None else (commit.journal.data,),
        (row.data for row in commit.values_added),
        (row.inputs for row in commit.effects_added),
        (row.payload for row in commit.bookmarks_added),
        (row.payload for row in commit.work_added),
        (row.payload for row in commit.inbox_added),
        (row.payload for row in commit.outbox_added),
    )
    return sum(len(data) for part in parts for data in part)


DISJOINT_INSTANCES = Grouping(compatible=disjoint_instances, measure=measure_states)
SAME_VERSIONS = Grouping(compatible=same_versions, measure=measure_payloads)
