"""Rules of group commit: limits, compatible batches, sizes, and outcomes per batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from holdfast.model.commit import COMMITTED, Commit
from holdfast.model.stored import InstanceKey
from holdfast.persistence.sql.commit_grouping import (
    BYTES_MAX,
    COMMITS_MAX,
    DISJOINT_INSTANCES,
    SAME_VERSIONS,
    Grouping,
    commits_of,
    split,
)
from holdfast.testing.store_rows import (
    bookmark,
    commit_of,
    effect,
    instance,
    message,
    settlement,
    stimulus,
    value,
    work,
)


class Job:
    def __init__(self, grouping: Grouping, *batch: Commit) -> None:
        self.batch: Sequence[Commit] = batch
        self.versions, self.size = grouping.measure(batch)


def groups_of(grouping: Grouping, jobs: Sequence[Job]) -> list[list[Job]]:
    waiting = deque(jobs)
    groups = []
    while waiting:
        groups.append(grouping.next_group(waiting))
    return groups


def jobs_of(grouping: Grouping, *versions: tuple[str, int]) -> list[Job]:
    return [Job(grouping, commit_of(instance(name, version))) for name, version in versions]


def versions_of(groups: Sequence[Sequence[Job]]) -> list[list[tuple[str, int]]]:
    return [[(key.id, version) for job in group for key, version in job.versions.items()] for group in groups]


@pytest.mark.parametrize("grouping", [DISJOINT_INSTANCES, SAME_VERSIONS])
def test_a_group_is_limited_by_commits(grouping: Grouping) -> None:
    jobs = jobs_of(grouping, *((f"i{number}", 1) for number in range(200)))

    assert [len(group) for group in groups_of(grouping, jobs)] == [COMMITS_MAX, 200 - COMMITS_MAX]


@pytest.mark.parametrize("grouping", [DISJOINT_INSTANCES, SAME_VERSIONS])
def test_a_group_is_limited_by_bytes(grouping: Grouping) -> None:
    jobs = [Job(grouping, commit_of(instance(f"i{number}", state=b"x" * 1_900_000))) for number in range(3)]

    assert [len(group) for group in groups_of(grouping, jobs)] == [2, 1]


@pytest.mark.parametrize("grouping", [DISJOINT_INSTANCES, SAME_VERSIONS])
def test_a_batch_above_the_limits_is_a_group_of_its_own(grouping: Grouping) -> None:
    small = Job(grouping, commit_of(instance("small")))
    many = Job(grouping, *(commit_of(instance(f"i{number}")) for number in range(COMMITS_MAX + 1)))
    heavy = Job(grouping, commit_of(instance("heavy", state=bytes(BYTES_MAX + 1))))

    assert groups_of(grouping, [small, many, heavy]) == [[small], [many], [heavy]]


def test_disjoint_instances_share_a_group() -> None:
    jobs = jobs_of(DISJOINT_INSTANCES, *((f"i{number}", 1) for number in range(5)))
    (twice,) = jobs_of(DISJOINT_INSTANCES, ("i0", 2))
    large = Job(DISJOINT_INSTANCES, *(commit_of(instance(f"l{number}")) for number in range(COMMITS_MAX)))
    heavy = Job(DISJOINT_INSTANCES, commit_of(instance("heavy", state=bytes(5_000_000))))

    groups = groups_of(DISJOINT_INSTANCES, [*jobs, twice, large, heavy])

    assert groups == [jobs, [twice], [large], [heavy]]


def test_disjoint_instances_never_write_one_instance_twice_in_a_group() -> None:
    jobs = jobs_of(DISJOINT_INSTANCES, ("a", 2), ("a", 2), ("b", 1), ("a", 3))

    assert versions_of(groups_of(DISJOINT_INSTANCES, jobs)) == [[("a", 2), ("b", 1)], [("a", 2)], [("a", 3)]]


def test_same_versions_keep_their_order_and_competitors_share_a_group() -> None:
    jobs = jobs_of(SAME_VERSIONS, ("i", 2), ("i", 3), ("i", 2), ("i", 4), ("other", 1))

    groups = groups_of(SAME_VERSIONS, jobs)

    assert versions_of(groups) == [[("i", 2), ("i", 2), ("other", 1)], [("i", 3)], [("i", 4)]]


def test_the_same_id_in_two_tenants_is_two_instances() -> None:
    jobs = [Job(DISJOINT_INSTANCES, commit_of(instance("i", tenant=tenant))) for tenant in ("a", "b")]

    assert groups_of(DISJOINT_INSTANCES, jobs) == [jobs]


def test_commits_without_an_instance_always_share_a_group() -> None:
    jobs = [Job(DISJOINT_INSTANCES, settlement("", work_consumed=("w",))) for _ in range(3)]

    assert groups_of(DISJOINT_INSTANCES, jobs) == [jobs]


def test_a_batch_that_waits_for_its_instance_keeps_its_place() -> None:
    waiting = deque(jobs_of(DISJOINT_INSTANCES, ("a", 1), ("a", 2), ("b", 1)))
    second = waiting[1]

    DISJOINT_INSTANCES.next_group(waiting)

    assert list(waiting) == [second]


def test_sizes() -> None:
    commit = commit_of(
        instance("i", state=b"12345"),
        bookmarks_added=(bookmark("", "i", payload=b"1"),),
        work_added=(work("", payload=b"12"),),
        effects_added=(effect("", "i", inputs=b"123"),),
        inbox_added=(stimulus("", payload=b"1234"),),
        outbox_added=(message("", payload=b"12345"),),
        values_added=(value("", "i", "v", b"123456"),),
    )
    assert commit.journal is not None
    commit = replace(commit, journal=replace(commit.journal, data=b"1234567"))

    versions = {InstanceKey("", "i"): 1}

    assert DISJOINT_INSTANCES.measure([commit, settlement("")]) == (versions, 5)
    assert SAME_VERSIONS.measure([commit, settlement("")]) == (versions, 5 + 1 + 2 + 3 + 4 + 5 + 6 + 7)


def test_outcomes_are_split_by_batch() -> None:
    first, second = (
        Job(DISJOINT_INSTANCES, *(commit_of(instance(f"{name}{number}")) for number in range(count)))
        for name, count in (("a", 1), ("b", 2))
    )
    outcomes = [COMMITTED] * 3

    assert list(commits_of([first, second])) == [*first.batch, *second.batch]
    assert list(split([first, second], outcomes)) == [(first, outcomes[:1]), (second, outcomes[1:])]


def test_the_commits_of_one_batch_are_not_copied() -> None:
    (job,) = jobs_of(DISJOINT_INSTANCES, ("a", 1))

    assert commits_of([job]) is job.batch
