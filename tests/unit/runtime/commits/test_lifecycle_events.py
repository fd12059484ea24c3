"""Lifecycle events: outbox rows of the commit that caused them, for the outlets that subscribe to them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from holdfast import Context, Workflow, activity
from holdfast.activities import Event, Sequence
from holdfast.ports import LifecycleEvent
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.jobs.control import CancelJob
from holdfast.runtime.commits.jobs.dispatch import BeginJob
from holdfast.runtime.commits.jobs.resume import ResumeJob
from holdfast.runtime.commits.jobs.start import PendingJob
from holdfast.testing.store_rows import work
from tests.support.commit_pipeline import KEY, CommitPipeline, commit_pipeline

PAID = Workflow(Sequence(Event("paid")), id="w")


class Topic:
    def __init__(self, name: str, events: Collection[str] = ()) -> None:
        self.name, self.events = name, events

    async def deliver(self, event: LifecycleEvent) -> None:
        raise AssertionError("the commit delivers nothing itself")


@activity(pure=True)
def fail(context: Context) -> None:
    raise ValueError("broken")


def events(pipeline: CommitPipeline) -> list[LifecycleEvent]:
    """Events of the last commit."""
    return [msgspec.json.decode(row.payload, type=LifecycleEvent) for row in pipeline.store.batches[-1][0].outbox_added]


def names(pipeline: CommitPipeline) -> list[str]:
    return [event.event for event in events(pipeline)]


async def piped(*outlets: Any) -> CommitPipeline:
    return await commit_pipeline(outlets=outlets or (Topic("all"),))


async def test_a_start_a_resume_and_an_end() -> None:
    pipeline = await piped()
    await pipeline.start(PAID, correlation_id="c-1", principal="ann")
    assert names(pipeline) == ["instance.started", "segment.committed", "instance.suspended"]

    await pipeline.run(ResumeJob(KEY, "b1"))
    assert names(pipeline) == ["instance.resumed", "segment.committed", "instance.finished"]
    first = events(pipeline)[0]
    assert (first.data, first.correlation_id, first.principal) == ({"bookmark": "b1"}, "c-1", "ann")
    assert (first.status, first.version) == ("finished", 2)


async def test_ids_are_equal_in_every_delivery_and_differ_between_events() -> None:
    pipeline = await piped(Topic("a"), Topic("b"))
    await pipeline.start(PAID)

    assert [row.id for row in pipeline.store.batches[-1][0].outbox_added] == [
        "i.1.0@a", "i.1.0@b", "i.1.1@a", "i.1.1@b", "i.1.2@a", "i.1.2@b",
    ]  # fmt: skip
    assert [event.id for event in events(pipeline)[::2]] == ["i.1.0", "i.1.1", "i.1.2"]


async def test_an_outlet_gets_only_the_events_that_it_names() -> None:
    pipeline = await piped(Topic("ends", ["instance.finished"]), Topic("starts", ["instance.started"]))
    await pipeline.start(PAID)

    assert [row.topic for row in pipeline.store.batches[-1][0].outbox_added] == ["starts"]


async def test_a_fault_names_its_incidents_and_a_cancellation_is_told() -> None:
    pipeline = await piped()
    await pipeline.start(Workflow(Sequence(fail.bind(id="fail")), id="w"))
    assert events(pipeline)[-1].event == "instance.faulted"
    assert events(pipeline)[-1].data == {"incidents": ["broken"]}

    await pipeline.run(CancelJob(KEY, "canceled"))
    assert names(pipeline) == ["segment.committed", "instance.canceled"]


async def test_a_pending_instance_starts_when_it_begins() -> None:
    pipeline = await piped()
    start = (await pipeline.start_job(PAID)).start
    await pipeline.run(PendingJob(start, work("")))
    assert names(pipeline) == ["instance.pending"]

    await pipeline.run(BeginJob(KEY))
    assert names(pipeline) == ["instance.started", "segment.committed", "instance.suspended"]


async def test_a_commit_without_a_change_has_no_events() -> None:
    pipeline = await piped()
    await pipeline.start(PAID)
    count = len(pipeline.store.batches)
    pipeline.cache.forget(KEY)
    jobs: list[Job] = [ResumeJob(KEY, "b9", is_hint=True)]
    await pipeline.execute(*jobs)

    assert len(pipeline.store.batches) == count
