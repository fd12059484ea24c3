"""Telemetry events of a committed burst: one per fact, and none for a listener that did not subscribe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from holdfast import Workflow, telemetry
from holdfast.activities import Event, Sequence, WriteLine
from holdfast.runtime.commits.jobs.dispatch import BeginJob
from holdfast.runtime.commits.jobs.resume import ResumeJob
from holdfast.runtime.commits.jobs.start import PendingJob
from holdfast.testing.store_rows import work
from tests.support.commit_pipeline import KEY, commit_pipeline

PAID = Workflow(Sequence(WriteLine("a"), WriteLine("b"), Event("paid")), id="w")
ALL = (
    "instance.started",
    "instance.resumed",
    "segment.committed",
    "burst.committed",
    "instance.suspended",
    "instance.finished",
)


class Told:
    def __init__(self) -> None:
        self.events: list[tuple[str, Mapping[str, Any]]] = []

    def __call__(self, name: str, fields: Mapping[str, Any]) -> None:
        self.events.append((name, fields))

    def take(self) -> list[str]:
        """Names of the events since the last call."""
        found, self.events = self.events, []
        return [name for name, _ in found]


@pytest.fixture
def told() -> Iterator[Told]:
    listener = Told()
    end = telemetry.subscribe(listener, *ALL)
    yield listener
    end()


async def test_a_start_and_a_resume(told: Told) -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    assert told.take() == ["instance.started", "segment.committed", "burst.committed", "instance.suspended"]

    await pipeline.run(ResumeJob(KEY, "b1"))
    assert told.take() == ["instance.resumed", "segment.committed", "burst.committed", "instance.finished"]


async def test_a_burst_has_its_times_and_its_entries(told: Told) -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    fields = dict(told.events)["burst.committed"]

    assert 0 < fields["began_ns"] <= fields["ran_ns"] <= fields["committed_ns"]
    assert fields["entries"].completed() == {"WriteLine": 2}
    assert [entry.sequence for entry in fields["entries"]()] == list(range(len(fields["entries"]())))


async def test_a_pending_instance_is_started_when_it_begins(told: Told) -> None:
    pipeline = await commit_pipeline()
    await pipeline.run(PendingJob((await pipeline.start_job(PAID)).start, work("")))
    assert told.take() == []

    await pipeline.run(BeginJob(KEY))
    assert told.take()[0] == "instance.started"


async def test_a_burst_without_a_change_emits_nothing(told: Told) -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    told.take()
    pipeline.cache.forget(KEY)
    await pipeline.run(ResumeJob(KEY, "b9", is_hint=True))

    assert told.take() == []
