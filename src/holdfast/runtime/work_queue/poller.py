"""The poller: claims due rows of the work table, runs them, and retries or buries rows that fail.

Rows that need no query run inside their claim. Rows that need queries first (starts, stimuli, alteration pages, unread checks)
are prepared in the background. Rows that this node has just added itself run without a look at the table.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Container, Coroutine, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from time import thread_time
from typing import Any

from msgspec.structs import replace

from holdfast import telemetry
from holdfast.errors import HoldfastError, InstanceNotFound, PayloadRefused
from holdfast.model.stored import InstanceKey
from holdfast.model.work import WorkKind, WorkRow, queue_of
from holdfast.ports import Claim, Store
from holdfast.runtime.commits import dead_letters
from holdfast.runtime.commits.dead_letters import DeadLetters
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.commits.spent_rows import SpentRows
from holdfast.runtime.intake import Intake
from holdfast.runtime.observability.outage_log import AWAY, OutageLog
from holdfast.runtime.plans.obstacles import OBSTACLES, is_parked_by_cause
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.queue_watch import DueRows
from holdfast.runtime.service import NOW, PeriodicService, end_tasks
from holdfast.runtime.work_queue.child_starts import ChildStarts, refusal_of
from holdfast.runtime.work_queue.claim_runner import ClaimRunner
from holdfast.runtime.work_queue.claim_size import ROWS_MAX, ClaimSize
from holdfast.runtime.work_queue.row_jobs import job_of
from holdfast.runtime.work_queue.rows_in_hand import RowKey, RowsInHand, row_key

logger = logging.getLogger("holdfast")

CLAIMS_MAX = 2
"""Claims at a time: while the store commits one, the next one runs."""
IN_HAND_MAX = 250 + ROWS_MAX * CLAIMS_MAX
"""Rows in hand above which no more are claimed."""
RETRY_INTERVAL = timedelta(milliseconds=250)
"""Pause after a read of the table that failed, and while the node takes no work."""
CLAIM_GRACE = 10.0
"""Seconds that a running claim may take when the node stops."""
ATTEMPTS_MAX = 3
RETRY_PAUSE = timedelta(seconds=1)
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
"""Rows that the node which adds them executes at once."""

RowHandler = Callable[[WorkRow], Awaitable[object]]
"""Prepares and executes a row of one kind; the commit that does it consumes the row."""
TakeOne = Callable[[], Awaitable[int]]


class Poller:
    take_one_in_quarantine: TakeOne
    """Takes one row after a crash in the cluster (`quarantine.py`); set by the node."""

    def __init__(
        self,
        store: Store,
        due: DueRows,
        intake: Intake,
        plans: Plans,
        lanes: Lanes,
        in_hand: InstancesInHand,
        claims: ClaimRunner,
        starts: ChildStarts,
        letters: DeadLetters,
        spent: SpentRows,
        log: OutageLog,
        handlers: Mapping[str, RowHandler],
        *,
        does_own: bool,
    ) -> None:
        """`due` watches the queues of this node; `does_own` executes rows that this node adds itself."""
        self._store = store
        self._due = due
        self.queues = due.queues
        self._intake = intake
        self._plans = plans
        self._lanes = lanes
        self._instances = in_hand
        self._runner = claims
        self._starts = starts
        self._letters = letters
        self._spent = spent
        self._log = log
        self._handlers = handlers
        self._needs_queries = frozenset({WorkKind.START, *handlers})
        self._does_own = does_own
        self._size = ClaimSize()
        self._claims: set[asyncio.Task[int]] = set()
        self._pending: set[asyncio.Task[None]] = set()
        self._locked: dict[RowKey, asyncio.Task[Any] | None] = {}
        """Rows that run inside a claim, with its task: the store gives them to no other claim of this process."""
        self.in_hand = RowsInHand()
        self._leased: dict[RowKey, WorkRow] = {}
        """Rows that another component leased for this run: it writes them back itself (`take_leased`)."""
        self._service = PeriodicService(
            "poller", self._round, every=RETRY_INTERVAL, failure="the work table could not be read", log=log
        )

    # -- rows that this node has just added ----------------------------------------------------------------------------

    def takes_own_of(self, tenant: str) -> bool:
        return self.takes_own(queue_of(tenant))

    def takes_own(self, queue: str) -> bool:
        """Whether rows that this node adds to a queue run here at once; otherwise they are claimed from the table."""
        intake = self._intake
        return self._does_own and not intake.in_quarantine and not intake.paused and queue in self.queues

    def take_own(self, rows: Iterable[WorkRow], kinds: Container[str] = OWN_KINDS) -> None:
        self.take(row for row in rows if row.kind in kinds and row.due is None and self.takes_own(row.queue))

    def take(self, rows: Iterable[WorkRow]) -> None:
        """Execute these rows, unless they are in hand."""
        for row in rows:
            if row_key(row) not in self.in_hand:
                self.in_hand.add(row_key(row))
                self._due.taken([row_key(row)])
                self._begin(row)

    def take_leased(self, row: WorkRow) -> None:
        """Execute a row whose lease the caller has written. When the row is not in hand any more, `end_lease` returns it as it
        shall be written back; a row that was consumed is gone."""
        self._leased[row_key(row)] = row
        self.take([row])

    def end_lease(self, row: WorkRow) -> WorkRow:
        return self._leased.pop(row_key(row))

    def _begin(self, row: WorkRow) -> None:
        if row.kind in self._needs_queries:
            self._in_background(row, self._prepare(row))
        else:
            self._submit(row, job_of(row))

    def _in_background(self, row: WorkRow, work: Coroutine[Any, Any, None]) -> None:
        """Run queries for a row. Its instance counts as in hand meanwhile."""
        key = _instance_of(row)
        self._instances.hold(key)
        task = asyncio.get_running_loop().create_task(work)
        self._pending.add(task)

        def done(task: asyncio.Task[None]) -> None:
            self._pending.discard(task)
            self._instances.release(key)
            if not task.cancelled() and (error := task.exception()) is not None:
                self.in_hand.discard(row_key(row))
                logger.error("work row %s could not be executed", row.id, exc_info=error)

        task.add_done_callback(done)

    # -- rows of the table ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._service.start()

    async def stop(self) -> None:
        """End after the running claims: the node that commits a segment also starts its effects."""
        await self._service.stop()
        if self._claims:
            await asyncio.wait(self._claims, timeout=CLAIM_GRACE)
        await end_tasks([*self._pending, *self._claims])

    async def _round(self) -> timedelta | None:
        if self._intake.paused:
            return None
        await self._due.wait()
        try:
            if await self._due.is_due():
                if len(self.in_hand) >= IN_HAND_MAX:
                    self._due.full()
                elif (taken := await self.take_due()) or not self._intake.in_quarantine:
                    self._due.took(taken)
                else:
                    self._due.full()  # One row at a time: the next one may be claimable soon.
        except BaseException:
            self._due.full()
            raise
        self._log.answered()
        return NOW

    async def take_due(self) -> int:
        """Execute due rows and wait for their commits; returns their number."""
        if self._intake.paused:
            return 0
        if self._intake.in_quarantine:
            return await self.take_one_in_quarantine()
        if len(self.in_hand) >= IN_HAND_MAX:
            return 0
        return await asyncio.shield(self._start_claim())

    def _start_claim(self) -> asyncio.Task[int]:
        """In a task of its own: a caller that stops waiting does not interrupt the claim."""
        task = asyncio.get_running_loop().create_task(self._claim(), name="holdfast-claim")
        self._claims.add(task)
        task.add_done_callback(self._claims.discard)
        return task

    async def _claim(self) -> int:
        limit = self._size.rows
        # Rows in hand stay in the table until their commit. Locking them here would block that commit.
        skip = self.in_hand - self._locked.keys()
        with ExitStack() as stack:
            async with self._store.claim(self.queues, limit, lacking=self._plans.lacking, without=skip) as claim:
                rows = [row for row in claim.rows if row_key(row) not in self.in_hand]
                self._plans.saw_epoch(claim.epoch)
                self.in_hand.update(map(row_key, rows))
                if len(rows) == limit and len(self._claims) < CLAIMS_MAX:
                    self._start_claim().add_done_callback(self._second_claim_ended)
                if rows and telemetry.wants("work.taken"):
                    await self._emit_taken(rows)
                now, later = self._divide(rows)
                stack.enter_context(self._begin_later(later))
                await self._run_claimed(now, claim)
        return len(rows)

    @contextmanager
    def _begin_later(self, rows: list[WorkRow]) -> Iterator[None]:
        """Begin these rows after the claim; their instances count as in hand from now on. If the claim fails, the rows stay
        in the table."""
        keys = [_instance_of(row) for row in rows]
        for key in keys:
            self._instances.hold(key)
        try:
            yield
        except BaseException:
            for row in rows:
                self.in_hand.discard(row_key(row))
            raise
        else:
            for row in rows:
                self._begin(row)
        finally:
            for key in keys:
                self._instances.release(key)

    async def _run_claimed(self, jobs: list[Job], claim: Claim) -> None:
        locked = [(job.key.tenant, job.consumes_work) for job in jobs if job.consumes_work is not None]
        self._locked.update(dict.fromkeys(locked, asyncio.current_task()))
        begun = thread_time()
        try:
            await self._runner.run(jobs, claim)
        finally:
            for key in locked:
                self._locked.pop(key, None)
        self._size.measured(len(jobs), thread_time() - begun)

    def _second_claim_ended(self, claim: asyncio.Task[int]) -> None:
        """No caller waits for a second claim: its error is logged here."""
        if not claim.cancelled() and (error := claim.exception()) is not None:
            self._log.warning("the work table could not be read", because=error)

    def _divide(self, rows: Iterable[WorkRow]) -> tuple[list[Job], list[WorkRow]]:
        """Jobs to run inside the claim; and rows that need queries or whose instance is in hand."""
        now, later = list[Job](), list[WorkRow]()
        for row in rows:
            inside = row.kind not in self._needs_queries and self._runner.may_run(_instance_of(row))
            job = job_of(row) if inside else None
            if job is None:
                later.append(row)
            else:
                job.on_done = partial(self._done, row)
                now.append(job)
        return now, later

    async def _emit_taken(self, rows: Iterable[WorkRow]) -> None:
        now = await self._store.now()
        for row in rows:
            late = now - (row.due or row.created)
            telemetry.emit("work.taken", tenant=row.tenant, kind=row.kind, queue=row.queue, late=late)

    # -- one row -------------------------------------------------------------------------------------------------------

    async def _prepare(self, row: WorkRow) -> None:
        try:
            if row.kind == WorkKind.START:
                self._submit(row, await self._starts.job_of(row))
            else:
                await self._handlers[row.kind](row)
                self.in_hand.discard(row_key(row))
        except AWAY:
            self.in_hand.discard(row_key(row))  # The row is still there when the store is back.
        except HoldfastError as error:
            refusal = refusal_of(row, error) if row.kind == WorkKind.START else None
            if refusal is not None:
                self._submit(row, refusal)
            else:
                await self._failed(row, error)

    def _submit(self, row: WorkRow, job: Job | None) -> None:
        if job is None:
            self.in_hand.discard(row_key(row))
            return
        job.on_done = partial(self._done, row)
        self._lanes.submit(job)

    def _done(self, row: WorkRow, error: BaseException | None) -> None:
        if error is None or isinstance(error, AWAY):
            self.in_hand.discard(row_key(row))
            if error is None and is_parked_by_cause(row.content):
                self._plans.obstacles.passed(row.tenant, row.content)
        else:
            self._in_background(row, self._failed(row, error))

    async def _failed(self, row: WorkRow, error: BaseException) -> None:
        """Count the attempt and retry later; after the last attempt the row becomes a dead letter.

        Code or classes that this process lacks (a rolling or a bad deploy) are no failure of the row: it is parked, and
        another process runs it (rule H10). A payload of the wrong shape is not retried: the next attempt would fail too.
        """
        try:
            if isinstance(error, OBSTACLES):
                await self._park(row, error)
                return
            if isinstance(error, PayloadRefused):
                await self._letters.bury(row, dead_letters.REFUSED, str(error))
                return
            attempts = row.attempts + 1
            if attempts < ATTEMPTS_MAX:
                due = await self._store.now() + RETRY_PAUSE * attempts
                await self._write_back(row, replace(row, attempts=attempts, due=due))
            elif row.kind == WorkKind.CANCEL and isinstance(error, InstanceNotFound):
                self._spent.delete(row.tenant, row.id)  # The child was never started.
            else:
                await self._letters.bury(replace(row, attempts=attempts), dead_letters.ATTEMPTS, str(error))
        finally:
            self.in_hand.discard(row_key(row))

    async def _park(self, row: WorkRow, error: Exception) -> None:
        """Leave the row to other processes, as it is: only its content names the obstacle."""
        name = self._plans.obstacles.park_name(row, error)
        if name != row.content:
            await self._write_back(row, replace(row, content=name))

    async def _write_back(self, row: WorkRow, changed: WorkRow) -> None:
        """Nothing is written if another process has changed the row meanwhile."""
        if row_key(row) in self._leased:
            self._leased[row_key(row)] = changed
            return
        if (claim := self._locked.get(row_key(row))) is not None:
            await asyncio.wait([claim])  # Until then the claim holds the lock of the row.
        await self._store.move_work(row, attempts=changed.attempts, due=changed.due, content=changed.content)


def _instance_of(row: WorkRow) -> InstanceKey:
    """The instance of a row; rows without an instance share an empty id."""
    return InstanceKey(row.tenant, row.instance_id or "")
