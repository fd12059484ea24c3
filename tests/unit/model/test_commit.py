"""Commits that no store may write, and the journal segment of each commit."""

from __future__ import annotations

import pytest

from holdfast.errors import BatchRefused
from holdfast.model.commit import Commit, check_batch
from holdfast.model.guard import activation_slot
from holdfast.testing.store_rows import bookmark, commit_of, effect, incident, instance, segment, value, work


@pytest.mark.parametrize(
    ("commit", "message"),
    [
        (commit_of(instance("i"), bookmarks_added=(bookmark("", "j"),)), "a row of instance 'j'"),
        (commit_of(instance("i"), effects_added=(effect("", "j"),)), "a row of instance 'j'"),
        (commit_of(instance("i", 0)), "version from 1 on"),
        (commit_of(instance("i"), journal=segment(instance("i", 2))), "journal segment"),
        (Commit(burst_id="b", instance=instance("i")), "burst id"),
        (Commit(burst_id="b", guards_taken=(activation_slot(strategy="s"),)), "no instance"),
        (Commit(burst_id="b", values_added=(value("", "i", "v"),)), "no instance"),
        (Commit(burst_id="b", incidents_added=(incident("", "i"),)), "no instance"),
        (commit_of(instance("i"), effects_added=(effect("other", "i"),)), "belongs to one tenant"),
        (commit_of(instance("i"), values_added=(value("", "j", "v"),)), "a row of instance 'j'"),
        (commit_of(instance("i"), work_added=(work("other"),)), "one tenant"),
    ],
)
def test_commits_that_no_store_may_write(commit: Commit, message: str) -> None:
    with pytest.raises(BatchRefused, match=message):
        check_batch([commit])


def test_the_same_id_of_two_tenants_is_two_instances() -> None:
    check_batch([commit_of(instance("i")), commit_of(instance("i", tenant="acme"))])


def test_every_commit_of_an_instance_has_a_segment() -> None:
    commit = commit_of(instance("i", 3), journal=None)

    assert commit.segment is not None
    assert (commit.segment.version, commit.segment.count, commit.segment.burst_id) == (3, 0, commit.burst_id)
    assert Commit(burst_id="b").segment is None
