"""One instance in a batch: its jobs applied one after the other to the same state, run, and made into one commit.

All of it is synchronous and may be thrown away and run again (rule "Segments and effects"). If a job fails outside an
activity, it is taken out and the others run again from the stored state, without it.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from itertools import chain
from time import perf_counter_ns
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from holdfast import telemetry
from holdfast.errors import HoldfastError
from holdfast.execution import delivery
from holdfast.execution.live import ChildStart, LiveInstance
from holdfast.execution.plan import Plan
from holdfast.execution.segment import Ended, Limits, run_segment
from holdfast.execution.settle import settle
from holdfast.model.commit import Commit
from holdfast.model.instance import Status, moment
from holdfast.model.stored import InstanceRow
from holdfast.runtime.commits.baseline import NEW, NOTHING, Before, Consumed, remember
from holdfast.runtime.commits.jobs.base import Answer, EffectJob, Job, ResumeJob, StartJob
from holdfast.runtime.commits.jobs.operator import still_fits
from holdfast.runtime.commits.jobs.task import TaskJob
from holdfast.runtime.commits.snapshots import with_snapshot
from holdfast.runtime.commits.state_codec import decode_state
from holdfast.runtime.outbox.relay import with_events

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

Fail = Callable[[Job, Exception], None]
T = TypeVar("T")


class Burst(Struct):
    instance_id: str
    jobs: list[Job]
    """Still to be done; those that are refused leave it."""
    row: InstanceRow | None = None
    """What it begins from; None for a new instance."""
    hot: bool = False
    """The row is from the cache. It may be old: then the version check throws the segment away, but nothing may be refused
    or found pointless by it."""
    unsure: list[Job] = []
    """Jobs that a hot row refused: to be asked of the stored one."""
    plan: Plan | None = None
    values: Mapping[str, bytes] = {}
    """Large values that the row refers to."""
    live: LiveInstance | None = None
    before: Before = NEW
    applied: list[Job] = []
    changed: bool = False
    go_on: str | None = None
    """The `continue` row, if the segment was cut."""
    began_ns: int = 0
    ran_ns: int = 0
    """When it began and had run; only where somebody listens."""
    kept: bool = True
    """False: a transient workflow that ended at once leaves nothing to keep."""

    @property
    def left(self) -> list[Job]:
        """Jobs that this commit does not hold."""
        return [job for job in self.jobs if job not in self.applied] if len(self.jobs) > len(self.applied) else []

    def leave_out(self, job: Job) -> None:
        """It does nothing here. By a hot row that is not certain."""
        self.applied.remove(job)
        self.jobs.remove(job)
        if self.hot:
            job.sure = True
            self.unsure.append(job)


def run_bursts(bursts: Iterable[Burst], node: Node, limits: Limits, fail: Fail) -> list[tuple[Burst, Commit | None]]:
    """The commit of what the jobs of each came to; None if there is nothing to write. First all run, then all are written
    down: code that is used again and again stays in the processor's cache. What is written together has one moment."""
    ran = [(burst, _run(burst, node, limits, fail)) for burst in bursts]
    now = moment(node.clock.now_ns())
    return [(burst, _written(burst, node, limits, fail, now) if applied else None) for burst, applied in ran]


def _run(burst: Burst, node: Node, limits: Limits, fail: Fail) -> bool:
    """Whether any of its jobs was applied."""
    if telemetry.listeners:
        burst.began_ns = node.clock.now_ns()
    while burst.jobs:
        begun = perf_counter_ns()
        try:
            _begin(burst, node)
        except HoldfastError as error:  # The state cannot be read: none of the jobs can be done.
            jobs, burst.jobs = burst.jobs, []
            for job in jobs:
                fail(job, error)
            return False
        try:
            _apply_all(burst, limits.after(perf_counter_ns() - begun))
        except Exception as error:  # noqa: BLE001 - one burst fails alone, its neighbours in the batch go on
            _drop(burst, error, fail)
            continue
        if telemetry.listeners:
            burst.ran_ns = node.clock.now_ns()
        return True
    return False


def _written(burst: Burst, node: Node, limits: Limits, fail: Fail, now: datetime) -> Commit | None:
    while True:
        try:
            return _commit(burst, node, now)
        except Exception as error:  # noqa: BLE001 - one burst fails alone, its neighbours in the batch go on
            _drop(burst, error, fail)
        if not _run(burst, node, limits, fail):
            return None


def _drop(burst: Burst, error: Exception, fail: Fail) -> None:
    """Leave out the job that failed. What it made of the instance is thrown away: nothing of it may be let out."""
    culprit = burst.applied[-1]
    burst.jobs.remove(culprit)
    burst.live, burst.applied, burst.changed = None, [], False
    fail(culprit, error)


def _begin(burst: Burst, node: Node) -> None:
    """The instance as it is stored, or a new one. Never the live object of another try: that was changed."""
    burst.live, burst.applied, burst.go_on, burst.changed = None, [], None, False
    first = burst.jobs[0]
    if burst.row is not None:
        assert burst.plan is not None
        live = decode_state(burst.row.state, burst.plan, node.clock.now_ns, node.services, burst.values)
        live.new_effects = []  # Open effects run already; only those of this burst are new.
        burst.live, burst.before = live, remember(live, burst.row)
    elif isinstance(first, StartJob):
        burst.live, burst.before = first.make(), NEW
    if burst.live is not None:
        burst.live.defers_steps = True


def _apply_all(burst: Burst, limits: Limits) -> None:
    live = burst.live
    assert live is not None
    context = contextvars.Context()  # What pure code sets in it does not leak to the next burst (rule H13).
    first = burst.jobs[0]
    for job in tuple(burst.jobs):
        if burst.go_on is not None:
            return
        if isinstance(job, StartJob) and (burst.row is not None or job is not first):
            burst.jobs.remove(job)
            job.tell(Answer(existing=burst.instance_id))
            continue
        burst.applied.append(job)
        if job.condition is not None and not still_fits(job.condition, burst.row, live):
            burst.leave_out(job)
            if not burst.hot:
                job.tell(Answer(dropped=True))
            continue
        try:
            changed = job.changed = context.run(job.apply, live)
        except HoldfastError as error:  # Nothing is changed then.
            burst.leave_out(job)
            if not burst.hot:
                job.refuse(error)
            continue
        if changed:
            burst.changed = True
            if not job.idle and not context.run(_run_queue, live, limits):
                burst.go_on = f"{live.id}.c{burst.before.version + 1}"
        elif burst.hot:
            burst.leave_out(job)


def _run_queue(live: LiveInstance, limits: Limits) -> bool:
    """Run until only waits are left; False if the segment was cut."""
    while True:
        if run_segment(live, limits) is not Ended.IDLE:
            return False
        if not live.published or not delivery.deliver_local_events(live):
            return True


# -- the commit --------------------------------------------------------------------------------------------------------


def _commit(burst: Burst, node: Node, now: datetime) -> Commit | None:
    live = burst.live
    assert live is not None
    consumed = _consumed(burst.applied)
    if not burst.changed:
        if not consumed.work and not consumed.inbox:
            return None
        return Commit(
            tenant=node.tenant,
            burst_id=node.next_id(),
            work_consumed=consumed.work,
            inbox_consumed=consumed.inbox,
        )
    starts = _take_child_starts(burst, live) if live.child_starts else ()
    if live.plan.definition.options.transient and _is_transient(burst, live, consumed):
        burst.kept = False
        return None
    first = burst.applied[0]
    if isinstance(first, StartJob):
        content, begun = first.content, not first.waits
    else:
        content, begun = "" if burst.row is None else burst.row.content, False
    commit = node.maker.commit(
        live,
        burst.before,
        consumed,
        now,
        burst_id=node.next_id(),
        content=live.moved_to or content,
        starts=starts,
        begun=begun,
        go_on=burst.go_on,
    )
    if node.keeps_states:
        commit = with_snapshot(commit, burst.values)
    return with_events(node, burst, commit) if node.outlets else commit


def _take_child_starts(burst: Burst, live: LiveInstance) -> tuple[ChildStart, ...]:
    """They leave with this commit, as rows; what is left of them is a bookmark."""
    starts, live.child_starts = live.child_starts, ()
    if burst.go_on is None:
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
        and all(event["local"] for event in live.published)
    )


def _consumed(jobs: list[Job]) -> Consumed:
    if len(jobs) == 1:
        return _used_by(jobs[0])
    each = [_used_by(job) for job in jobs]
    return Consumed(
        work=_once(item.work for item in each),
        effects=_all(item.effects for item in each),
        guards=_all(item.guards for item in each),
        bookmarks=_once(item.bookmarks for item in each),
        schedules=_all(item.schedules for item in each),
        inbox=_once(item.inbox for item in each),
        drops=_all(item.drops for item in each),
        adds=_all(item.adds for item in each),
        buries=_all(item.buries for item in each),
        closed=_all(item.closed for item in each),
    )


def _used_by(job: Job) -> Consumed:
    kind, work = job.__class__, job.consumes_work
    if job.fires is None and not job.guards:  # As nearly all of those that there are most of.
        if kind is ResumeJob:
            return Consumed(work=() if work is None else (work,), bookmarks=(job.bookmark_id,))  # type: ignore[attr-defined]
        if kind is EffectJob and work is None:
            return NOTHING if job.consumes_effect is None else Consumed(effects=(job.consumes_effect,))
        if kind is StartJob and work is None:
            return NOTHING
    return Consumed(
        work=() if job.consumes_work is None else (job.consumes_work,),
        effects=() if job.consumes_effect is None else (job.consumes_effect,),
        guards=job.guards,
        bookmarks=(job.bookmark_id,) if isinstance(job, ResumeJob) else (),
        schedules=() if job.fires is None else (job.fires,),
        inbox=job.consumes_inbox,
        drops=job.drops,
        adds=job.adds,
        buries=job.buries,
        closed=((job.bookmark_id, job.closed),) if isinstance(job, TaskJob) and job.closed is not None else (),
    )


def _all(groups: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(chain.from_iterable(groups))


def _once(groups: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(groups)))
