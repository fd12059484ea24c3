"""Reads of instances of one tenant, and waits for the end of the work of this node."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast import Workflow
from holdfast.activities import Event, Sequence
from holdfast.errors import InstanceNotFound
from holdfast.model.instance import JournalEvent, Status
from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.jobs.resume import ResumeJob
from holdfast.runtime.reads import InstanceReads
from holdfast.testing.store_rows import instance
from tests.support.commit_pipeline import KEY, CommitPipeline, commit_pipeline

PAID = Workflow(Sequence(Event("a"), Event("b")), id="w")


def reads_of(pipeline: CommitPipeline, tenant: str = "") -> InstanceReads:
    parts: Any = SimpleNamespace(
        store=pipeline.store,
        reader=pipeline.reader,
        plans=pipeline.plans,
        in_hand=pipeline.in_hand,
        cache=pipeline.cache,
    )
    return InstanceReads(parts, tenant)


async def test_row_and_result_are_of_the_same_version() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    reads = reads_of(pipeline)
    row, result = await reads.read_with_row("i")

    assert (row.version, result.status) == (1, Status.SUSPENDED)
    assert (await reads.row("i")).version == 1
    assert (await reads.read("i")).instance_id == "i"


async def test_instances_of_another_tenant_are_not_found() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    reads = reads_of(pipeline, "acme")

    assert reads.key("i") == InstanceKey("acme", "i")
    assert await reads.find("i") is None
    with pytest.raises(InstanceNotFound):
        await reads.read("i")


async def test_the_journal_is_read_in_pages_of_commits() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    await pipeline.run(ResumeJob(KEY, "b1"))
    reads = reads_of(pipeline)
    everything, first, second = (
        await reads.journal("i"),
        await reads.journal("i", limit=1),
        await reads.journal("i", after=1),
    )

    assert first + second == everything
    assert first[0].event is JournalEvent.INSTANCE_STARTED
    assert JournalEvent.RESUMED in {entry.event for entry in second}
    assert [entry.sequence for entry in everything] == list(range(len(everything)))


async def test_a_row_that_was_read_is_cached_unless_a_later_one_is() -> None:
    pipeline = await commit_pipeline()
    reads = reads_of(pipeline)
    reads.keep_read(instance("i", 2))
    reads.keep_read(instance("i", 1))

    cached = reads.cached_row("i")
    assert cached is not None
    assert cached.version == 2
    reads.forget("i")
    assert reads.cached_row("i") is None


async def test_settle_waits_until_the_node_has_no_work_on_the_instance() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    reads = reads_of(pipeline)
    pipeline.in_hand.hold(KEY)
    waiting = asyncio.create_task(reads.settle("i"))
    await asyncio.sleep(0)
    assert (reads.works_on("i"), waiting.done()) == (True, False)

    await pipeline.execute(ResumeJob(KEY, "b1"), ResumeJob(KEY, "b2"))
    pipeline.in_hand.release(KEY)
    async with asyncio.timeout(30):
        assert (await waiting).status is Status.FINISHED
    assert not reads.works_on("i")


async def test_an_instance_without_work_is_read_at_once() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    reads = reads_of(pipeline)

    await reads.settled("i")
    assert (await reads.settle("i")).status is Status.SUSPENDED
