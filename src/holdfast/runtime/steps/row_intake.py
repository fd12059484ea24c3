"""Takes steps from the work table: all steps, or with a broker those that the broker could not delay."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from msgspec.structs import replace

from holdfast.errors import StoreError
from holdfast.execution.live import LiveInstance
from holdfast.model.stored import InstanceRow
from holdfast.model.work import EffectRow, WorkRow
from holdfast.ports import Store
from holdfast.runtime.commits.placement import STEP_QUEUE, step_priority, step_row
from holdfast.runtime.commits.spent_rows import SpentRows
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.queue_watch import DueRows, QueueWatch
from holdfast.runtime.service import NOW, BackgroundTasks, PeriodicService
from holdfast.runtime.steps.capacity import StepCapacity
from holdfast.runtime.steps.limits.per_value import LimitPerValue, Value
from holdfast.runtime.steps.queue_share import QueueShare
from holdfast.runtime.steps.runner import StepRunner
from holdfast.runtime.steps.tickets import RowTicket
from holdfast.runtime.steps.waiting_steps import LEASE, WaitingSteps

RETRY_INTERVAL = timedelta(seconds=1)
"""Pause after a read of the table that failed."""


class RowIntake:
    def __init__(
        self,
        store: Store,
        watch: QueueWatch,
        plans: Plans,
        spent: SpentRows,
        runner: StepRunner,
        capacity: StepCapacity,
        shares: Sequence[QueueShare],
        background: BackgroundTasks,
        log: OutageLog,
    ) -> None:
        self._store = store
        self._plans = plans
        self._spent = spent
        self._runner = runner
        self._capacity = capacity
        self._background = background
        self._log = log
        self._by_queue: dict[str, tuple[QueueShare, DueRows]] = {}
        self._waiting = {share: self._waiting_of(share.per_value) for share in shares if share.per_value is not None}
        self.services = [self._service(share, watch, log) for share in shares]
        self.services += [self._waiting_service(share, waiting, log) for share, waiting in self._waiting.items()]

    def _service(self, share: QueueShare, watch: QueueWatch, log: OutageLog) -> PeriodicService:
        due = watch.of([STEP_QUEUE + queue for queue in share.queues])
        self._by_queue.update(dict.fromkeys(due.queues, (share, due)))
        return PeriodicService(
            "step-rows",
            partial(self._take, share, due),
            every=RETRY_INTERVAL,
            failure="steps could not be read from the work table",
            log=log,
        )

    def _waiting_of(self, limit: LimitPerValue) -> WaitingSteps:
        waiting = WaitingSteps(limit.most)
        limit.on_room = waiting.has_room
        return waiting

    def _waiting_service(self, share: QueueShare, waiting: WaitingSteps, log: OutageLog) -> PeriodicService:
        return PeriodicService(
            "waiting-steps",
            partial(self._take_waiting, share, waiting),
            every=RETRY_INTERVAL,
            failure="steps that wait for a limit could not be started",
            log=log,
        )

    async def release(self) -> None:
        """Leave the steps that wait here to other nodes."""
        rows = [row for waiting in self._waiting.values() for row in waiting.clear()]
        if rows:
            try:
                await self._store.defer(rows, await self._store.now())
            except StoreError as error:
                self._log.warning("waiting steps are left to other nodes when their leases end", because=error)

    def take_committed(self, live: LiveInstance, instance: InstanceRow, effects: Sequence[EffectRow]) -> None:
        """Start steps that this node has just committed and serves itself, without a read of the table.

        It starts as many as have room, of queues without a limit of the cluster or per value. The intake takes the others from
        the table, and leases them first if they may have to wait.
        """
        rows = [step_row(row, instance.content, row.created, step_priority(live.plan, row)) for row in effects]
        for row in sorted(rows, key=lambda row: -row.priority):
            share, due = self._by_queue.get(row.queue, (None, None))
            if (
                share is not None and due is not None and share.takes_committed and row.id not in share.starting
                and row.created <= instance.updated and self._capacity.room(share) > 0
            ):  # fmt: skip
                due.taken([(row.tenant, row.id)])
                self._start(row, share)

    async def _take(self, share: QueueShare, due: DueRows) -> timedelta:
        await due.wait()
        try:
            if await due.is_due():  # Places are reserved only for work that exists.
                due.took(await self._claim(share, due.queues))
        except BaseException:
            due.full()
            raise
        return NOW

    async def _claim(self, share: QueueShare, queues: Sequence[str]) -> int:
        reserved = await self._capacity.reserve(share)
        rows: list[WorkRow] = []
        try:
            # Rows that are being taken stay in the table until they are deleted: claim past them.
            async with self._store.claim(queues, reserved + len(share.starting), lacking=self._plans.lacking) as claim:
                found = [row for row in claim.rows if row.id not in share.starting][:reserved]
            waiting = self._waiting.get(share)
            leased = found if waiting is None else await self._lease(found)
            rows = [row for row in leased if waiting is None or row.id not in waiting]
            lease_ends = _lease_end()
            for row in rows:
                self._start(row, share, lease_ends=lease_ends)
        finally:
            self._capacity.settle(share, reserved, len(rows))
        return len(found)

    async def _take_waiting(self, share: QueueShare, waiting: WaitingSteps) -> timedelta:
        reserved = await self._capacity.reserve(share, await waiting.wait())
        steps = waiting.take(reserved)
        for step in steps:
            self._start(step.row, share, step.values, step.lease_ends)
        self._capacity.settle(share, reserved, len(steps))
        return NOW

    async def _lease(self, rows: Sequence[WorkRow]) -> list[WorkRow]:
        """Make rows due later, so that other nodes leave them to this one until then."""
        if not rows:
            return []
        due = await self._store.now() + LEASE
        await self._store.defer(rows, due)
        return [replace(row, due=due) for row in rows]

    def _start(
        self,
        row: WorkRow,
        share: QueueShare,
        values: Sequence[Value] | None = None,
        lease_ends: float | None = None,
    ) -> None:
        share.begin(row.id)
        self._background.start(self._run(row, share, values, lease_ends))

    async def _run(
        self, row: WorkRow, share: QueueShare, values: Sequence[Value] | None, lease_ends: float | None
    ) -> None:
        """`values` and `lease_ends` are known for a step that has waited."""
        ticket = RowTicket(self._store, self._spent, row, values)
        try:
            await self._runner.run(ticket, share)
            if ticket.deletion is not None:
                await asyncio.wait([ticket.deletion])
            elif ticket.pause is not None and ticket.values is not None:
                if lease_ends is None:
                    (row,), lease_ends = await self._lease([row]), _lease_end()
                self._waiting[share].add(row, ticket.values, ticket.pause, lease_ends)
            elif (found := self._by_queue.get(row.queue)) is not None:
                found[1].full()  # The row is still in the table.
        finally:
            share.starting.discard(row.id)
            self._capacity.freed(share)


def _lease_end() -> float:
    return asyncio.get_running_loop().time() + LEASE.total_seconds()
