"""The rows that the jobs of a burst consume, collected for its commit."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TypeVar

from holdfast.runtime.commits.baseline import NOTHING, Consumed
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.jobs.effect import EffectJob
from holdfast.runtime.commits.jobs.resume import ResumeJob
from holdfast.runtime.commits.jobs.start import StartJob
from holdfast.runtime.commits.jobs.task import TaskJob

T = TypeVar("T")


def consumed_rows(jobs: list[Job]) -> Consumed:
    if len(jobs) == 1:
        return _consumed_by(jobs[0])
    each = [_consumed_by(job) for job in jobs]
    return Consumed(
        work=_distinct(item.work for item in each),
        effects=_all(item.effects for item in each),
        guards=_all(item.guards for item in each),
        bookmarks=_distinct(item.bookmarks for item in each),
        schedules=_all(item.schedules for item in each),
        inbox=_distinct(item.inbox for item in each),
        work_dropped=_all(item.work_dropped for item in each),
        work_added=_all(item.work_added for item in each),
        dead_letters=_all(item.dead_letters for item in each),
        closed=_all(item.closed for item in each),
    )


def _consumed_by(job: Job) -> Consumed:
    kind, work = job.__class__, job.consumes_work
    if job.schedule_step is None and not job.guards:  # Fast path: most jobs have no guards and no schedule.
        if kind is ResumeJob:
            return Consumed(work=() if work is None else (work,), bookmarks=(job.bookmark_id,))  # type: ignore[attr-defined]
        if kind is EffectJob and work is None:
            return NOTHING if job.consumes_effect is None else Consumed(effects=(job.consumes_effect,))
        if kind is StartJob and work is None:
            return NOTHING
    return Consumed(
        work=() if work is None else (work,),
        effects=() if job.consumes_effect is None else (job.consumes_effect,),
        guards=job.guards,
        bookmarks=job.resumes,
        schedules=() if job.schedule_step is None else (job.schedule_step,),
        inbox=job.consumes_inbox,
        work_dropped=job.drops_work,
        work_added=job.adds_work,
        dead_letters=job.dead_letters,
        closed=((job.bookmark_id, job.closed),) if isinstance(job, TaskJob) and job.closed is not None else (),
    )


def _all(groups: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(chain.from_iterable(groups))


def _distinct(groups: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(groups)))
