"""Lifecycle events of a burst as outbox rows of its commit (rule M8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.execution.live import LiveInstance
from holdfast.model.commit import Commit
from holdfast.model.instance import Status
from holdfast.model.work import OutboxRow
from holdfast.ports import LifecycleEvent, Outlet
from holdfast.runtime.commits.burst import Burst
from holdfast.runtime.commits.jobs.dispatch import BeginJob
from holdfast.runtime.commits.jobs.resume import ResumeJob

_STATUS_EVENTS = {
    Status.SUSPENDED: "instance.suspended",
    Status.FINISHED: "instance.finished",
    Status.FAULTED: "instance.faulted",
    Status.CANCELED: "instance.canceled",
}
EVENT_NAMES = (
    "instance.pending",
    "instance.started",
    "instance.resumed",
    *_STATUS_EVENTS.values(),
    "segment.committed",
)


class LifecycleEvents:
    """Adds a row for each event that an outlet of this node subscribes to."""

    def __init__(self, outlets: Sequence[Outlet]) -> None:
        self._outlets = outlets

    def __call__(self, burst: Burst, commit: Commit) -> Commit:
        rows = [
            OutboxRow(
                tenant=event.tenant,
                id=f"{event.id}@{outlet.name}",
                topic=outlet.name,
                instance_id=event.instance_id,
                created=event.at,
                payload=msgspec.json.encode(event),
            )
            for event in _events(burst, commit)
            for outlet in self._outlets
            if not outlet.events or event.event in outlet.events
        ]
        return replace(commit, outbox_added=(*commit.outbox_added, *rows)) if rows else commit


def _events(burst: Burst, commit: Commit) -> Iterator[LifecycleEvent]:
    row, live = commit.instance, burst.live
    if row is None or live is None:
        return
    for number, (name, data) in enumerate(_names(burst, live)):
        yield LifecycleEvent(
            id=f"{row.id}.{row.version}.{number}",
            event=name,
            at=row.updated,
            tenant=row.tenant,
            instance_id=row.id,
            definition_id=row.definition_id,
            definition_version=row.definition_version,
            status=row.status,
            version=row.version,
            correlation_id=row.correlation_id,
            parent_id=row.parent_id,
            principal=live.principal,
            data=data,
        )


def _names(burst: Burst, live: LiveInstance) -> Iterator[tuple[str, dict[str, Any]]]:
    if live.status is Status.PENDING:
        yield "instance.pending", {}
        return
    if burst.before.version == 0 or any(isinstance(job, BeginJob) for job in burst.applied):
        yield "instance.started", {} if live.trigger is None else {"trigger": live.trigger}
    for job in burst.applied:
        if isinstance(job, ResumeJob) and job.bookmark_id:
            yield "instance.resumed", {"bookmark": job.bookmark_id}
    yield "segment.committed", {"activities": live.sequence}
    if live.status in _STATUS_EVENTS:
        data = {"incidents": [item.message for item in live.incidents]} if live.incidents else {}
        yield _STATUS_EVENTS[live.status], data
