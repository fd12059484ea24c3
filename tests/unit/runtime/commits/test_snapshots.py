"""Snapshots: the state of each commit with all of its large values."""

from __future__ import annotations

from holdfast import Workflow
from holdfast.activities import Event, Sequence, SetVariable
from holdfast.model.upkeep import SNAPSHOT
from holdfast.runtime.commits.jobs.resume import ResumeJob
from holdfast.runtime.commits.large_values import refers_to
from holdfast.runtime.commits.snapshots import decode_snapshot, snapshot_id, with_snapshot
from holdfast.testing.store_rows import record, settlement
from tests.support.commit_pipeline import KEY, commit_pipeline


def test_ids_sort_by_version() -> None:
    assert snapshot_id("i", 9) < snapshot_id("i", 10) == "i@00000010"


def test_a_commit_without_an_instance_has_no_snapshot() -> None:
    commit = settlement("", records=(record("", "t"),))

    assert with_snapshot(commit, {}) is commit


async def test_every_commit_has_a_complete_snapshot() -> None:
    """The large value is written by the first commit and kept by the second."""
    pipeline = await commit_pipeline(snapshots=True)
    body = Sequence(SetVariable("text", "long text " * 500), Event("a"), Event("b"))
    await pipeline.start(Workflow(body, id="w", variables={"text": ""}))
    await pipeline.run(ResumeJob(KEY, "b1"))

    records = [row for commit in pipeline.store.batches for item in commit for row in item.records]
    assert [(row.kind, row.id, row.state) for row in records] == [
        (SNAPSHOT, "i@00000001", "suspended"),
        (SNAPSHOT, "i@00000002", "suspended"),
    ]
    for row in records:
        kept = decode_snapshot(row.payload)
        assert set(kept.values) == set(refers_to(kept.state))
        assert len(kept.values) == 1
    stored = await pipeline.row()
    assert (kept.state, kept.content) == (stored.state, stored.content)


async def test_without_the_option_there_are_none() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(Workflow(Sequence(Event("a")), id="w"))

    assert [item.records for commit in pipeline.store.batches for item in commit] == [()]
