"""Jobs of work rows that need no query before they can be applied."""

from __future__ import annotations

from typing import Any

from holdfast.model.stored import InstanceKey
from holdfast.model.work import WorkKind, WorkRow
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.jobs.control import TERMINATED, CancelJob, ContinueJob
from holdfast.runtime.commits.jobs.dispatch import BeginJob, StoredRunJob
from holdfast.runtime.commits.jobs.operator import ReplayJob
from holdfast.runtime.commits.jobs.resume import ResumeJob, StoredResumeJob

_TIMER, _RESUME = WorkKind.TIMER, WorkKind.RESUME


def job_of(row: WorkRow) -> Job | None:
    """The job of a row; None if the row has to be prepared with queries."""
    if row.instance_id is None:
        return None
    key, work = InstanceKey(row.tenant, row.instance_id), row.id
    if row.kind == _TIMER:
        return ResumeJob(key, f"b{row.bookmark_seq}", is_hint=True, wants_answer=False, consumes_work=work)
    takes: dict[str, Any] = {"consumes_work": work, "wants_answer": False}
    if row.kind == _RESUME:
        return StoredResumeJob(key, f"b{row.bookmark_seq}", row.payload, is_hint=True, **takes)
    if row.kind == WorkKind.CONTINUE:
        return ContinueJob(key, **takes)
    if row.kind == WorkKind.BEGIN:
        return BeginJob(key, **takes)
    if row.kind == WorkKind.RUN:
        return StoredRunJob(key, row.payload, **takes)
    if row.kind == WorkKind.RETRY:
        return ReplayJob(key, work_rows.read_replay(row), **takes)
    if row.kind == WorkKind.CANCEL:
        return CancelJob(key, "parent", finalize=row.payload != TERMINATED.encode(), is_hint=True, **takes)
    return None
