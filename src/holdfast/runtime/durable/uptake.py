"""Takes rows of the work table up and turns them into jobs: timers, starts of children, ends of children, cut segments.

A row is consumed by the commit that does what it asks for, as a guard: two nodes may take the same row up, one of them wins.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.execution import delivery
from holdfast.execution.plan import Plan
from holdfast.model.inputs import check_inputs
from holdfast.model.work import DEFAULT_QUEUE, WorkKind, WorkRow
from holdfast.runtime.durable.encoding import decode_payload
from holdfast.runtime.durable.jobs import CancelJob, ContinueJob, Job, ResumeJob, StartJob

if TYPE_CHECKING:
    from holdfast.runtime.durable.node import Node

LIMIT = 250
POLL = timedelta(milliseconds=250)
OWN_KINDS = (WorkKind.START, WorkKind.RESUME, WorkKind.CANCEL)


class Uptake:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._task: asyncio.Task[None] | None = None
        self._pending: set[asyncio.Task[None]] = set()
        self._in_hand: set[str] = set()

    # -- rows that this node has just written itself -------------------------------------------------------------------

    def take_own(self, rows: Iterable[WorkRow]) -> None:
        for row in rows:
            if row.kind in OWN_KINDS:
                task = asyncio.get_running_loop().create_task(self._take(row))
                self._pending.add(task)
                task.add_done_callback(self._pending.discard)

    # -- rows of anybody -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Look for due rows until stopped."""
        self._task = asyncio.get_running_loop().create_task(self._run(), name="holdfast-uptake")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None

    async def _run(self) -> None:
        seen = 0
        while True:
            if not await self.take_due():
                seen = await self._node.store.wait_for_change(seen, POLL)

    async def take_due(self) -> int:
        """Take up what is due now; how many rows."""
        async with self._node.store.claim([DEFAULT_QUEUE], LIMIT) as claim:
            rows = [row for row in claim.rows if row.id not in self._in_hand and row.tenant == self._node.tenant]
        for row in rows:
            await self._take(row)
        return len(rows)

    async def _take(self, row: WorkRow) -> None:
        if row.id in self._in_hand:
            return
        try:
            job = await self._job(row)
        except HoldfastError as error:
            await self._refused(row, error)
            return
        if job is None:
            return
        self._in_hand.add(row.id)
        if job.answer is not None:
            job.answer.add_done_callback(partial(self._done, row.id))
        self._node.submit(job)

    def _done(self, row_id: str, answer: asyncio.Future[Any]) -> None:
        self._in_hand.discard(row_id)
        if not answer.cancelled():
            answer.exception()  # Seen: what went wrong is in the row's next attempt.

    async def _job(self, row: WorkRow) -> Job | None:
        if row.kind == WorkKind.TIMER and row.instance_id is not None:
            return ResumeJob(row.instance_id, f"b{row.bookmark_seq}", quiet=True, consumes_work=row.id)
        if row.kind == WorkKind.CONTINUE and row.instance_id is not None:
            return ContinueJob(row.instance_id, consumes_work=row.id)
        if row.kind == WorkKind.CANCEL and row.instance_id is not None:
            return CancelJob(row.instance_id, "canceled", consumes_work=row.id)
        if row.kind == WorkKind.RESUME and row.instance_id is not None:
            plan = await self._plan_of(row.instance_id)
            asked = decode_payload(row.payload, plan.types)
            return ResumeJob(row.instance_id, asked["bookmark"], asked["payload"], quiet=True, consumes_work=row.id)
        if row.kind == WorkKind.START and row.instance_id is not None:
            return await self._start_child(row, await self._plan_of(row.instance_id))
        return None

    async def _plan_of(self, instance_id: str) -> Plan:
        row = await self._node.row(instance_id)
        return await self._node.pins.plan(row.content)

    # -- children ------------------------------------------------------------------------------------------------------

    async def _start_child(self, row: WorkRow, parent: Plan) -> Job:
        asked = decode_payload(row.payload, parent.types)
        plan = await self._node.find_plan(asked["reference"])
        content = await self._node.pins.pin(plan)
        inputs = check_inputs(plan.definition, asked["input"], plan.types)
        node = self._node
        child = StartJob(
            asked["instance_id"],
            plan=plan,
            content=content,
            make=lambda: delivery.start(
                plan,
                id=asked["instance_id"],
                now=node.clock.now_ns,
                services=node.services,
                inputs=inputs,
                correlation_id=asked["correlation_id"],
                parent_id=asked["parent_id"],
            ),
            consumes_work=row.id,
        )
        if not asked["wait"] and child.answer is not None:
            child.answer.add_done_callback(lambda answer: self._tell_parent(asked, answer))
        return child

    def _tell_parent(self, asked: dict[str, Any], answer: asyncio.Future[Any]) -> None:
        """A parent that does not wait for the end goes on as soon as the child has begun."""
        if answer.cancelled() or answer.exception() is not None or answer.result().result is None:
            return
        result = answer.result().result
        if result.status.at_rest:
            return
        parent, _, bookmark = asked["parent_id"].partition("#")
        payload = {"instance_id": result.instance_id, "status": result.status.value, "outputs": result.outputs}
        self._node.submit(ResumeJob(parent, bookmark, payload, quiet=True, wanted=False))

    async def _refused(self, row: WorkRow, error: HoldfastError) -> None:
        """A start that cannot be: its parent hears why, and the row is used up."""
        if row.kind != WorkKind.START or row.instance_id is None:
            raise error
        plan = await self._plan_of(row.instance_id)
        parent, _, bookmark = decode_payload(row.payload, plan.types)["parent_id"].partition("#")
        self._node.submit(
            ResumeJob(parent, bookmark, {"refused": str(error)}, quiet=True, wanted=False, consumes_work=row.id)
        )
