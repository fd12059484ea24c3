"""Takes rows of the work table up and turns them into jobs: timers, children, published events, cut segments.

A row is consumed by the commit that does what it asks for, as a guard: two nodes may take the same row up, one of them wins.
One that cannot be done is tried again later, three times in all, and then becomes a dead letter.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Container, Coroutine, Iterable
from datetime import timedelta
from functools import partial
from time import thread_time
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from holdfast import telemetry
from holdfast.errors import DefinitionError, HoldfastError, InstanceNotFound, PayloadRefused
from holdfast.execution import delivery
from holdfast.execution.segment import Limits
from holdfast.model.inputs import check_inputs
from holdfast.model.work import WorkKind, WorkRow
from holdfast.ports import Claim
from holdfast.runtime.commits import dead_letters, work_rows
from holdfast.runtime.commits.jobs.base import (
    TERMINATED,
    CancelJob,
    ContinueJob,
    Job,
    ResumeJob,
    StartJob,
    StoredResumeJob,
)
from holdfast.runtime.commits.jobs.dispatch import BeginJob, StoredRunJob
from holdfast.runtime.commits.jobs.operator import AgainJob
from holdfast.runtime.observability.outage_log import AWAY
from holdfast.runtime.queue_watch import POLL, Lookout
from holdfast.runtime.stimuli import unread
from holdfast.runtime.task_end import end
from holdfast.runtime.work_queue import quarantine
from holdfast.runtime.work_queue.alteration_pages import alter_page
from holdfast.runtime.work_queue.claim_runner import ClaimedRuns
from holdfast.runtime.work_queue.claim_size import MOST, Pace
from holdfast.runtime.work_queue.quarantine import InHand

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

logger = logging.getLogger("holdfast")

HANDS = 2
"""Claims at a time: while the store commits one, the next is run."""
HELD_MAX = 250 + MOST * HANDS
"""Rows in hand from which on no more are taken: those of claims, and others."""
GRACE = 10.0
"""Seconds that a claim under way may take when the node stops."""
ATTEMPTS_MAX = 3
PAUSE = timedelta(seconds=1)
OWN_KINDS = frozenset(
    {
        WorkKind.ALTERATION,
        WorkKind.START,
        WorkKind.RESUME,
        WorkKind.CANCEL,
        WorkKind.CONTINUE,
        WorkKind.STIMULUS,
        WorkKind.RUN,
    }
)
"""What the node that wrote a row takes up at once, without a look at the table."""


_TIMER, _RESUME = WorkKind.TIMER, WorkKind.RESUME
_ASKING = frozenset({WorkKind.START, WorkKind.STIMULUS, WorkKind.ALTERATION, WorkKind.UNREAD})
"""What has to ask the store before it is a job."""


class Uptake:
    def __init__(self, node: Node, limits: Limits) -> None:
        self._node = node
        self._claimed = ClaimedRuns(node, limits)
        self._task: asyncio.Task[None] | None = None
        self._pending: set[asyncio.Task[None]] = set()
        self._claims: set[asyncio.Task[int]] = set()
        self._pace = Pace()
        self._locked: set[str] = set()
        """Rows that are run inside a claim: the store gives them to no other claim of this process."""
        self.in_hand = InHand()

    # -- rows that this node has just written itself -------------------------------------------------------------------

    def takes_own(self, queue: str) -> bool:
        """Whether what this node puts into a queue is done here at once; else it stands in the table, and is taken from
        there."""
        node, gate = self._node, self._node.gate
        return node.does_own and not gate.careful and not gate.paused and queue in node.work_queues

    def take_own(self, rows: Iterable[WorkRow], kinds: Container[str] = OWN_KINDS) -> None:
        self.take(row for row in rows if row.kind in kinds and row.due is None and self.takes_own(row.queue))

    def take(self, rows: Iterable[WorkRow]) -> None:
        """Do what these rows ask for, unless this node is at it."""
        for row in rows:
            if row.id not in self.in_hand:
                self.in_hand.add(row.id)
                self._begin(row)

    def _begin(self, row: WorkRow) -> None:
        if row.kind in _ASKING:
            self._in_background(row, self._take(row))
        else:
            self._give(row, self._simple_job(row))

    def _in_background(self, row: WorkRow, work: Coroutine[Any, Any, None]) -> None:
        """It has to ask the store. The instance counts as worked on meanwhile."""
        node, instance_id = self._node, row.instance_id or ""
        node.hold(instance_id)
        task = asyncio.get_running_loop().create_task(work)
        self._pending.add(task)

        def done(task: asyncio.Task[None]) -> None:
            self._pending.discard(task)
            node.let_go(instance_id)
            if not task.cancelled() and (error := task.exception()) is not None:
                self.in_hand.discard(row.id)
                logger.error("work row %s could not be taken up", row.id, exc_info=error)

        task.add_done_callback(done)

    # -- rows of anybody -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Look for due rows until stopped."""
        self._task = asyncio.get_running_loop().create_task(self._run(), name="holdfast-uptake")

    async def stop(self) -> None:
        """Let the claims under way end: whoever commits a segment also starts its effects."""
        if self._task is not None:
            await end([self._task])
            self._task = None
        if self._claims:
            await asyncio.wait(self._claims, timeout=GRACE)
        tasks = [*self._pending, *self._claims]
        await end(tasks)

    async def _run(self) -> None:
        lookout = Lookout(self._node.store, self._node.work_queues)
        while True:
            try:
                if self._node.gate.paused:
                    await lookout.rest()
                elif not await lookout.is_due() or not await self.take_due():
                    await lookout.wait()
                self._node.outage.answered()
            except Exception:  # noqa: BLE001 - it is told, and tried again
                self._node.outage.warn("the work table could not be read")
                await asyncio.sleep(POLL.total_seconds())

    async def take_due(self) -> int:
        """Do what is due now, and wait until it is committed; how many rows."""
        node = self._node
        if node.gate.paused:
            return 0
        if node.gate.careful:
            return await quarantine.take_one(node)
        if len(self.in_hand) >= HELD_MAX:
            return 0
        return await asyncio.shield(self._in_claim())

    def _in_claim(self) -> asyncio.Task[int]:
        """In a task of its own: whoever waits for it may go, it ends."""
        task = asyncio.get_running_loop().create_task(self._claim(), name="holdfast-claim")
        self._claims.add(task)
        task.add_done_callback(self._claims.discard)
        return task

    async def _claim(self) -> int:
        node, limit = self._node, self._pace.rows
        # Those in hand are in the table until their commit. Locked here, they would keep that commit waiting.
        mine = [(node.tenant, row_id) for row_id in self.in_hand if row_id not in self._locked]
        async with node.store.claim(node.work_queues, limit, lacking=node.pins.lacking, without=mine) as claim:
            rows = [row for row in claim.rows if row.id not in self.in_hand]
            node.pins.current.saw(claim.epoch)
            self.in_hand.update(row.id for row in rows)
            if len(rows) == limit and len(self._claims) < HANDS:
                self._in_claim().add_done_callback(self._failed_aside)
            if rows and telemetry.wants("work.taken"):
                await self._tell(rows)
            now, later = self._divided(rows)
            await self._run_claimed(now, claim)
        for row in later:
            self._begin(row)
        return len(rows)

    async def _run_claimed(self, jobs: list[Job], claim: Claim) -> None:
        locked = [job.consumes_work for job in jobs if job.consumes_work is not None]
        self._locked.update(locked)
        begun = thread_time()
        try:
            await self._claimed.run(jobs, claim)
        finally:
            self._locked.difference_update(locked)
        self._pace.did(len(jobs), thread_time() - begun)

    def _failed_aside(self, claim: asyncio.Task[int]) -> None:
        """A claim that nobody waits for."""
        if not claim.cancelled() and (error := claim.exception()) is not None:
            self._node.outage.warn("the work table could not be read", because=error)

    def _divided(self, rows: Iterable[WorkRow]) -> tuple[list[Job], list[WorkRow]]:
        """Jobs to run inside the claim; and rows that have to ask first, or whose instance is being worked on."""
        now, later = list[Job](), list[WorkRow]()
        for row in rows:
            here = row.kind not in _ASKING and self._claimed.may_run(row.instance_id or "")
            job = self._simple_job(row) if here else None
            if job is None:
                later.append(row)
            else:
                self._hear(row, job)
                now.append(job)
        return now, later

    async def _tell(self, rows: Iterable[WorkRow]) -> None:
        now = await self._node.store.now()
        for row in rows:
            telemetry.emit("work.taken", kind=row.kind, queue=row.queue, late=now - (row.due or row.created))

    # -- one row -------------------------------------------------------------------------------------------------------

    async def _take(self, row: WorkRow) -> None:
        try:
            if row.kind == WorkKind.START:
                self._give(row, await self._start_child(row))
            elif row.kind == WorkKind.ALTERATION:
                await alter_page(self._node, row)
                self.in_hand.discard(row.id)
            else:
                await (unread.look(self._node, row) if row.kind == WorkKind.UNREAD else self._node.post.take(row))
                self.in_hand.discard(row.id)
        except AWAY:
            self.in_hand.discard(row.id)  # It is still there when the store is back.
        except HoldfastError as error:
            if row.kind == WorkKind.START and work_rows.read_start(row).parent_id:
                self._give(row, self._refused(row, error))
            else:
                await self._failed(row, error)

    def _give(self, row: WorkRow, job: Job | None) -> None:
        if job is None:
            self.in_hand.discard(row.id)
            return
        self._hear(row, job)
        self._node.submit(job)

    def _hear(self, row: WorkRow, job: Job) -> None:
        job.hears = partial(self._done, row)

    def _done(self, row: WorkRow, error: BaseException | None) -> None:
        if error is None or isinstance(error, AWAY):
            self.in_hand.discard(row.id)
        else:
            self._in_background(row, self._failed(row, error))

    @staticmethod
    def _simple_job(row: WorkRow) -> Job | None:
        instance_id, work = row.instance_id, row.id
        if instance_id is None:
            return None
        if row.kind == _TIMER:
            return ResumeJob(instance_id, f"b{row.bookmark_seq}", quiet=True, wanted=False, consumes_work=work)
        takes: dict[str, Any] = {"consumes_work": work, "wanted": False}
        if row.kind == _RESUME:
            return StoredResumeJob(instance_id, f"b{row.bookmark_seq}", row.payload, quiet=True, **takes)
        if row.kind == WorkKind.CONTINUE:
            return ContinueJob(instance_id, **takes)
        if row.kind == WorkKind.BEGIN:
            return BeginJob(instance_id, **takes)
        if row.kind == WorkKind.RUN:
            return StoredRunJob(instance_id, row.payload, **takes)
        if row.kind == WorkKind.RETRY:
            return AgainJob(instance_id, work_rows.read_again(row), **takes)
        if row.kind == WorkKind.CANCEL:
            return CancelJob(instance_id, "parent", finalize=row.payload != TERMINATED.encode(), quiet=True, **takes)
        return None

    # -- children ------------------------------------------------------------------------------------------------------

    async def _start_child(self, row: WorkRow) -> Job:
        node, asked = self._node, work_rows.read_start(row)
        plan = await (node.pins.plan(row.content) if row.content else node.find_plan(asked.reference))
        content = row.content or await node.pins.pin(plan)
        inputs = check_inputs(plan.definition, work_rows.start_inputs(asked, plan.types), plan.types)
        holder = await node.slot_holder(plan, asked.correlation_id)
        if holder is not None and holder != asked.instance_id:
            raise HoldfastError(f"Instance {holder} is running, and '{plan.definition.id}' allows one at a time.")
        return StartJob(
            asked.instance_id,
            plan=plan,
            content=content,
            make=lambda: delivery.start(
                plan,
                id=asked.instance_id,
                now=node.clock.now_ns,
                services=node.services,
                inputs=inputs,
                correlation_id=asked.correlation_id,
                parent_id=asked.parent_id or None,
                name=asked.name,
                principal=asked.principal,
                trace=asked.trace,
            ),
            parent=work_rows.parent_of(asked.parent_id) if asked.parent_id else None,
            waits=asked.wait,
            consumes_work=row.id,
            wanted=False,
        )

    def _refused(self, row: WorkRow, error: HoldfastError) -> Job:
        """A start that cannot be: its parent hears why, and the row is used up."""
        return self._told(row, work_rows.read_start(row), str(error))

    @staticmethod
    def _told(row: WorkRow, asked: work_rows.StartRequest, reason: str) -> Job:
        parent, bookmark = work_rows.parent_of(asked.parent_id)
        told = {"refused": reason, "instance_id": asked.instance_id}
        return ResumeJob(parent, bookmark, told, quiet=True, consumes_work=row.id, wanted=False)

    # -- what cannot be done -------------------------------------------------------------------------------------------

    async def _failed(self, row: WorkRow, error: BaseException) -> None:
        """Count, and try again later; after the last time it is a dead letter.

        Where only the code is not here (a rolling deploy), another node may have it: that is no failure of the row. What has
        the wrong shape has it the next time too.
        """
        store = self._node.store
        try:
            now = await store.now()
            if isinstance(error, DefinitionError):
                await store.defer([row], now + PAUSE)
                return
            if isinstance(error, PayloadRefused):
                await dead_letters.bury(self._node, row, dead_letters.REFUSED, str(error))
                return
            attempts = row.attempts + 1
            if attempts < ATTEMPTS_MAX:
                await store.move_work(row, attempts=attempts, due=now + PAUSE * attempts)
            elif row.kind == WorkKind.CANCEL and isinstance(error, InstanceNotFound):
                self._node.use_up(row.id)  # A child that was never started.
            else:
                await dead_letters.bury(self._node, replace(row, attempts=attempts), dead_letters.ATTEMPTS, str(error))
        finally:
            self.in_hand.discard(row.id)
