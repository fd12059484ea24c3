"""A burst: the jobs of one instance in a batch, applied one after the other to the same state, run, and made one commit.

Running a burst is synchronous and may be repeated from the stored state (rule "Segments and effects"). If a job fails outside
of an activity, it is taken out of the burst, and the other jobs run again without it.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from time import perf_counter_ns
from typing import Protocol

from msgspec import Struct

from holdfast import telemetry
from holdfast.errors import HoldfastError, StateUnreadable
from holdfast.execution import delivery
from holdfast.execution.heap import HeapBook
from holdfast.execution.live import ChildStart, LiveInstance
from holdfast.execution.plan import Plan
from holdfast.execution.segment import Ended, Limits, run_segment
from holdfast.execution.settle import settle
from holdfast.execution.suspension import Suspended, begin
from holdfast.model.commit import Commit
from holdfast.model.instance import Status, moment
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.ports import Clock, Services
from holdfast.runtime.commits.baseline import NEW, Baseline, Consumed, baseline_of
from holdfast.runtime.commits.commit_builder import CommitBuilder
from holdfast.runtime.commits.consumed_rows import consumed_rows
from holdfast.runtime.commits.jobs.base import DROPPED, Answer, Job
from holdfast.runtime.commits.jobs.operator import still_matches
from holdfast.runtime.commits.jobs.start import StartJob
from holdfast.runtime.commits.snapshots import with_snapshot
from holdfast.runtime.commits.state_codec import decode_state
from holdfast.runtime.membership import Membership

Fail = Callable[[Job, Exception], None]

BURST_NS_MAX = 10_000_000
"""Time after which a burst takes no further job: the jobs left are the next burst, and the event loop is free in between."""


class Burst(Struct):
    key: InstanceKey
    jobs: list[Job]
    """Jobs still to be done; refused ones leave the list."""
    row: InstanceRow | None = None
    """The row that the burst starts from; None for a new instance."""
    cached: bool = False
    """The row is from the cache and may be out of date: the version check then discards the segment, but no job may be
    refused or found pointless by such a row."""
    unsure: list[Job] = []
    """Jobs that a cached row refused: to be decided by the stored row."""
    plan: Plan | None = None
    values: Mapping[str, bytes] = {}
    """Large values that the row refers to."""
    heap: HeapBook | None = None
    """Large variables of this version from the cache: the pages of these variables are then not in `values`."""
    heap_taken: bool = False
    """A run has changed the large variables, so the burst cannot run again without loading them."""
    live: LiveInstance | None = None
    before: Baseline = NEW
    applied: list[Job] = []
    changed: bool = False
    continue_id: str | None = None
    """The id of the `continue` row, if the segment was cut."""
    cost_ns: int = 0
    """Time to read and write the state, without the segment."""
    began_ns: int = 0
    ran_ns: int = 0
    """Start and end of the run; only set while telemetry has listeners."""
    suspended: Suspended | None = None
    """The run waits for the answer of another process."""
    kept: bool = True
    """False: a transient workflow that ended at once stores nothing."""

    @property
    def is_cold(self) -> bool:
        """Whether the burst reads pages that the next burst finds in memory."""
        return bool(self.heap.fresh if self.heap is not None else self.values)

    @property
    def left(self) -> list[Job]:
        """Jobs that the commit does not contain."""
        if len(self.jobs) == len(self.applied):
            return []
        applied = set(map(id, self.applied))
        return [job for job in self.jobs if id(job) not in applied]

    def leave_out(self, job: Job) -> None:
        """The job does nothing here. By a cached row that is not certain."""
        self.applied.remove(job)
        self.jobs.remove(job)
        if self.cached:
            job.from_store = True
            self.unsure.append(job)


class AddEvents(Protocol):
    """Adds outbox rows for lifecycle events to a commit."""

    def __call__(self, burst: Burst, commit: Commit) -> Commit: ...


class BurstRunner:
    """Runs bursts and builds their commits."""

    def __init__(
        self,
        builder: CommitBuilder,
        membership: Membership,
        clock: Clock,
        services: Services,
        limits: Limits,
        *,
        add_events: AddEvents | None = None,
        snapshots: bool = False,
    ) -> None:
        """`snapshots` stores the state of every commit (`history = snapshots`)."""
        self._builder = builder
        self._membership = membership
        self._clock = clock
        self._services = services
        self._limits = limits
        self._add_events = add_events
        self.snapshots = snapshots

    def run(self, bursts: Iterable[Burst], fail: Fail) -> list[tuple[Burst, Commit | None]]:
        """The commit of each burst; None if there is nothing to write. Bursts that were suspended are left out.

        All bursts run first, then all commits are built: code that is used again stays in the processor's cache. Commits of
        one batch share their time.
        """
        ran = [(burst, self._begin_run(burst, fail)) for burst in bursts]
        now = moment(self._clock.now_ns())
        return [
            (burst, self._build(burst, fail, now) if applied else None)
            for burst, applied in ran
            if burst.suspended is None
        ]

    async def finish(self, burst: Burst, fail: Fail) -> Commit | None:
        """Continue a suspended burst, and make its commit."""
        assert burst.suspended is not None
        applied: bool = await burst.suspended.finish()
        burst.suspended = None
        return self._build(burst, fail, moment(self._clock.now_ns())) if applied else None

    def _begin_run(self, burst: Burst, fail: Fail) -> bool:
        """Whether any of the jobs was applied. A run that waits is suspended."""
        if not _waits(burst):
            return self._run(burst, fail)
        found = begin(self._run, burst, fail)
        if isinstance(found, Suspended):
            burst.suspended = found
            return False
        return bool(found)

    def _run(self, burst: Burst, fail: Fail) -> bool:
        """Whether any of the jobs was applied."""
        if telemetry.listeners:
            burst.began_ns = self._clock.now_ns()
        while burst.jobs:
            if burst.heap_taken:
                burst.unsure += burst.jobs
                burst.jobs = []
                return False
            begun, is_cold = perf_counter_ns(), burst.is_cold
            try:
                self._begin(burst)
            except HoldfastError as error:  # The state cannot be read: no job can be done.
                _name_content(burst, error)
                jobs, burst.jobs = burst.jobs, []
                for job in jobs:
                    fail(job, error)
                return False
            read_ns = perf_counter_ns() - begun
            burst.cost_ns += read_ns
            try:
                # The next burst finds the pages in memory, so a longer segment would not save reading them again.
                _apply_all(burst, self._limits if is_cold else self._limits.after(read_ns))
            except Exception as error:  # noqa: BLE001 - a failed burst does not affect the others of its batch
                _name_content(burst, error)
                _take_out_failed(burst, error, fail)
                continue
            if telemetry.listeners:
                burst.ran_ns = self._clock.now_ns()
            return True
        return False

    def _begin(self, burst: Burst) -> None:
        """Decode the stored instance or create a new one. Never reuse a live object: an earlier run has changed it."""
        burst.live, burst.applied, burst.continue_id, burst.changed = None, [], None, False
        first = burst.jobs[0]
        if burst.row is not None:
            assert burst.plan is not None
            heap, burst.heap = burst.heap, None
            burst.heap_taken = heap is not None
            live = decode_state(
                burst.row.state, burst.plan, self._clock.now_ns, self._services, burst.values, heap, whole=False
            )
            live.new_effects = []  # Open effects run already; only effects of this burst are new.
            burst.live, burst.before = live, baseline_of(live, burst.row)
        elif isinstance(first, StartJob):
            burst.live, burst.before = first.create(self._clock.now_ns, self._services), NEW
        if burst.live is not None:
            burst.live.defers_steps = True

    def _build(self, burst: Burst, fail: Fail, now: datetime) -> Commit | None:
        while True:
            begun = perf_counter_ns()
            try:
                commit = self._commit(burst, now)
                burst.cost_ns += perf_counter_ns() - begun
                return commit
            except Exception as error:  # noqa: BLE001 - a failed burst does not affect the others of its batch
                _take_out_failed(burst, error, fail)
            if not self._run(burst, fail):
                return None

    def _commit(self, burst: Burst, now: datetime) -> Commit | None:
        live, tenant = burst.live, burst.key.tenant
        assert live is not None
        consumed = consumed_rows(burst.applied)
        if not burst.changed:
            if not consumed.work and not consumed.inbox:
                return None
            return Commit(
                tenant=tenant,
                burst_id=self._membership.next_id(),
                work_consumed=consumed.work,
                inbox_consumed=consumed.inbox,
            )
        starts = _take_child_starts(burst, live) if live.child_starts else ()
        if live.plan.definition.options.transient and _is_transient(burst, live, consumed):
            burst.kept = False
            return None
        first = burst.applied[0]
        if isinstance(first, StartJob):
            content, begun = first.start.content, not first.waits
        else:
            content, begun = "" if burst.row is None else burst.row.content, False
        commit = self._builder.commit(
            tenant,
            live,
            burst.before,
            consumed,
            now,
            burst_id=self._membership.next_id(),
            content=live.moved_to or content,
            starts=starts,
            begun=begun,
            continue_id=burst.continue_id,
        )
        if self.snapshots:
            commit = with_snapshot(commit, burst.values)
        return commit if self._add_events is None else self._add_events(burst, commit)


def _waits(burst: Burst) -> bool:
    """Whether an expression of the plan may suspend the run."""
    first = burst.jobs[0]
    if burst.plan is not None:
        return burst.plan.waits
    return isinstance(first, StartJob) and first.start.plan.waits


def _name_content(burst: Burst, error: Exception) -> None:
    """Errors of values name the instance and the content: work for it is parked by them (rule H10)."""
    if isinstance(error, StateUnreadable) and burst.row is not None:
        error.content, error.instance_id = burst.row.content, burst.key.id


def _take_out_failed(burst: Burst, error: Exception, fail: Fail) -> None:
    """Take out the job that failed. Its changes are discarded; none of them may be published."""
    failed = burst.applied[-1]
    burst.jobs.remove(failed)
    burst.live, burst.applied, burst.changed = None, [], False
    fail(failed, error)


def _apply_all(burst: Burst, limits: Limits) -> None:
    live = burst.live
    assert live is not None
    context = contextvars.Context()  # Context variables set by pure code do not leak into the next burst (rule H13).
    first = burst.jobs[0]
    until = perf_counter_ns() + BURST_NS_MAX
    for job in tuple(burst.jobs):
        if burst.continue_id is not None or (burst.changed and perf_counter_ns() > until):
            return
        if isinstance(job, StartJob) and (burst.row is not None or job is not first):
            burst.jobs.remove(job)
            job.finish(Answer(existing=burst.key.id))
            continue
        burst.applied.append(job)
        if job.condition is not None and not still_matches(job.condition, burst.row, live):
            burst.leave_out(job)
            if not burst.cached:
                job.finish(DROPPED)
            continue
        if live.heap is not None and not job.runs_code_only:
            live.heap.tracks = False
        try:
            changed = job.changed = context.run(job.apply, live)
        except StateUnreadable:
            raise
        except HoldfastError as error:  # The job has changed nothing.
            burst.leave_out(job)
            if not burst.cached:
                job.refuse(error)
            continue
        if changed:
            burst.changed = True
            _run_on(burst, job, live, limits, context, until)
        elif burst.cached:
            burst.leave_out(job)


def _run_on(
    burst: Burst, job: Job, live: LiveInstance, limits: Limits, context: contextvars.Context, until: int
) -> None:
    """Run the queue after a job, and apply the job again while it has more to do and the burst has time."""
    while job.runs_queue:
        if not context.run(_run_queue, live, limits):
            burst.continue_id = f"{live.id}.c{burst.before.version + 1}"
            return
        if not job.repeats or perf_counter_ns() > until or not context.run(job.apply, live):
            return


def _run_queue(live: LiveInstance, limits: Limits) -> bool:
    """Run until only waits are left; False if the segment was cut."""
    while True:
        if run_segment(live, limits) is not Ended.IDLE:
            return False
        if not live.published or not delivery.deliver_local_events(live):
            return True


def _take_child_starts(burst: Burst, live: LiveInstance) -> tuple[ChildStart, ...]:
    """Child starts leave with this commit as work rows; the state keeps only the bookmarks that wait for them."""
    starts, live.child_starts = live.child_starts, ()
    if burst.continue_id is None:
        settle(live)
    return starts


def _is_transient(burst: Burst, live: LiveInstance, consumed: Consumed) -> bool:
    return (
        burst.row is None
        and live.status is Status.FINISHED
        and not consumed.work
        and not consumed.guards
        and not consumed.schedules
        and live.parent_id is None
        and not live.submitted_plans
        and all(event["local"] for event in live.published)
    )
