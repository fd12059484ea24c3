"""Lifecycle events on their way out: rows of the commit that they tell of, and the relay that delivers them (drained by deletion,
rule M8)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from holdfast.model.commit import Commit
from holdfast.model.instance import Status
from holdfast.model.work import OutboxRow
from holdfast.ports import ClosableOutlet, LifecycleEvent
from holdfast.runtime.commits.jobs.base import ResumeJob
from holdfast.runtime.commits.jobs.dispatch import BeginJob
from holdfast.runtime.task_end import end

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node
    from holdfast.runtime.commits.burst import Burst

logger = logging.getLogger("holdfast")

PAGE = 100
HOLD = timedelta(seconds=60)
LOOK = timedelta(seconds=1)
PATIENCE = timedelta(minutes=10)
"""The longest pause between two tries of a delivery."""
_ENDS = {
    Status.SUSPENDED: "instance.suspended",
    Status.FINISHED: "instance.finished",
    Status.FAULTED: "instance.faulted",
    Status.CANCELED: "instance.canceled",
}
EVENT_NAMES = ("instance.pending", "instance.started", "instance.resumed", *_ENDS.values(), "segment.committed")
_decode = msgspec.json.Decoder(LifecycleEvent).decode


# -- into the commit ---------------------------------------------------------------------------------------------------


def with_events(node: Node, burst: Burst, commit: Commit) -> Commit:
    """The commit, with a row for each event that an outlet of this node wants."""
    rows = [
        OutboxRow(
            tenant=event.tenant,
            id=f"{event.id}@{outlet.name}",
            topic=outlet.name,
            instance_id=event.instance_id,
            created=event.at,
            payload=msgspec.json.encode(event),
        )
        for event in _events(node, burst, commit)
        for outlet in node.outlets
        if not outlet.events or event.event in outlet.events
    ]
    return replace(commit, outbox_added=(*commit.outbox_added, *rows)) if rows else commit


def _events(node: Node, burst: Burst, commit: Commit) -> Iterator[LifecycleEvent]:
    row, live = commit.instance, burst.live
    if row is None or live is None:
        return
    for number, (name, data) in enumerate(_names(burst, live)):
        yield LifecycleEvent(
            id=f"{row.id}.{row.version}.{number}",
            event=name,
            at=row.updated,
            tenant=node.tenant,
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


def _names(burst: Burst, live: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if live.status is Status.PENDING:
        yield "instance.pending", {}
        return
    if burst.before.version == 0 or any(isinstance(job, BeginJob) for job in burst.applied):
        yield "instance.started", {} if live.trigger is None else {"trigger": live.trigger}
    for job in burst.applied:
        if isinstance(job, ResumeJob) and job.bookmark_id:
            yield "instance.resumed", {"bookmark": job.bookmark_id}
    yield "segment.committed", {"activities": live.sequence}
    if live.status in _ENDS:
        yield _ENDS[live.status], {"incidents": [item.message for item in live.incidents]} if live.incidents else {}


# -- and out of the database -------------------------------------------------------------------------------------------


class Relay:
    """Delivers rows of the outbox to the outlets of this node."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._node.outlets:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="holdfast-relay")

    async def stop(self) -> None:
        if self._task is not None:
            await end([self._task])
            self._task = None
        for outlet in self._node.outlets:
            if isinstance(outlet, ClosableOutlet):
                await outlet.close()

    async def _run(self) -> None:
        seen = -1
        while True:
            try:
                if not await self.deliver():
                    seen = await self._node.store.wait_for_change(seen, LOOK)
            except Exception:  # noqa: BLE001 - it is told, and tried again
                self._node.outage.warn("the outbox could not be drained")
                await asyncio.sleep(LOOK.total_seconds())

    async def deliver(self) -> int:
        """Deliver what lies there now; how many went out."""
        store = self._node.store
        rows = await store.take_outbox(PAGE, HOLD)
        gone = [row for row, done in zip(rows, await asyncio.gather(*map(self._one, rows)), strict=True) if done]
        await store.delete_outbox(gone)
        return len(gone)

    async def _one(self, row: OutboxRow) -> bool:
        outlet = next((item for item in self._node.outlets if item.name == row.topic), None)
        pause = min(timedelta(seconds=2 ** min(row.attempts, 10)), PATIENCE)
        try:
            if outlet is None or row.tenant != self._node.tenant:
                pause = HOLD  # Another node has it.
            else:
                await outlet.deliver(_decode(row.payload))
                return True
        except Exception as error:  # noqa: BLE001 - an outlet of others
            logger.warning("%s did not take event %s (attempt %d): %r", row.topic, row.id, row.attempts, error)
        await self._node.store.return_outbox([row], pause)
        return False


# -- outlets -----------------------------------------------------------------------------------------------------------


class FunctionOutlet:
    """An outlet of a function: hand events to a broker, a log, a queue of your own."""

    def __init__(
        self, name: str, deliver: Callable[[LifecycleEvent], Awaitable[None]], *, events: Collection[str] = ()
    ) -> None:
        self.name = name
        self.events = frozenset(events)
        self._deliver = deliver

    async def deliver(self, event: LifecycleEvent) -> None:
        await self._deliver(event)
