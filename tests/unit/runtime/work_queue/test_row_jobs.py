"""Jobs of work rows: each kind of row becomes the job that consumes it."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.model.requests import DispatchInstance
from holdfast.model.stored import InstanceKey
from holdfast.model.work import WorkKind
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.jobs.control import TERMINATED, CancelJob, ContinueJob
from holdfast.runtime.commits.jobs.dispatch import BeginJob, StoredRunJob
from holdfast.runtime.commits.jobs.resume import ResumeJob, StoredResumeJob
from holdfast.runtime.work_queue.row_jobs import job_of
from holdfast.testing.store_rows import AT, effect, work


def job(kind: WorkKind, **given: Any) -> Any:
    return job_of(work("acme", id="w1", kind=kind, instance_id="i", **given))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (WorkKind.TIMER, ResumeJob),
        (WorkKind.RESUME, StoredResumeJob),
        (WorkKind.CONTINUE, ContinueJob),
        (WorkKind.BEGIN, BeginJob),
        (WorkKind.CANCEL, CancelJob),
    ],
)
def test_a_job_consumes_its_row_for_the_instance_of_its_tenant(kind: WorkKind, expected: type[Job]) -> None:
    made = job(kind, bookmark_seq=4)

    assert made.__class__ is expected
    assert (made.key, made.consumes_work, made.answer) == (InstanceKey("acme", "i"), "w1", None)


@pytest.mark.parametrize("kind", [WorkKind.TIMER, WorkKind.RESUME])
def test_a_resume_names_its_bookmark_and_is_obsolete_without_it(kind: WorkKind) -> None:
    made = job(kind, bookmark_seq=4, payload=b"")

    assert (made.bookmark_id, made.is_hint) == ("b4", True)


def test_a_cancellation_by_a_parent_runs_the_finalizers_unless_it_terminated() -> None:
    assert job(WorkKind.CANCEL, payload=b"").finalize
    assert not job(WorkKind.CANCEL, payload=TERMINATED.encode()).finalize


def test_a_stored_dispatch_is_run() -> None:
    row = work_rows.run("acme", "w1", DispatchInstance(instance_id="i"), "", AT)

    assert type(job_of(row)) is StoredRunJob


def test_a_replayed_dead_letter_names_its_execution() -> None:
    made: Any = job_of(work_rows.replay_row(effect("acme", "i", execution=7), AT))

    assert (made.execution_id, made.key) == (7, InstanceKey("acme", "i"))


@pytest.mark.parametrize("kind", [WorkKind.START, WorkKind.STIMULUS, WorkKind.UNREAD, WorkKind.ALTERATION])
def test_rows_that_need_queries_have_no_job(kind: WorkKind) -> None:
    assert job(kind) is None


def test_a_row_without_an_instance_has_no_job() -> None:
    assert job_of(work("acme", kind=WorkKind.RESUME)) is None
