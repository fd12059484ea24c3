"""The job that delivers stimuli: in order, matched when applied, one commit, and again after a conflict."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Workflow, expr
from holdfast.activities import Event, Parallel, Sequence, SetOutput
from holdfast.errors import InstanceAtRest, PayloadRefused
from holdfast.execution import delivery
from holdfast.execution.segment import Limits, run_segment
from holdfast.model import values
from holdfast.model.commit import Conflict, ConflictReason
from holdfast.model.guard import GuardKind
from holdfast.runtime.commits.jobs.mail import Letter, MailJob
from holdfast.runtime.commits.work_rows import Stimulus
from tests.support.commit_pipeline import KEY, begun

TWICE = Workflow(
    Sequence(Event("paid", result="first"), Event("paid", result="last"), SetOutput("got", expr("[first, last]"))),
    id="w",
    variables={"first": None, "last": None},
    outputs={"got": object},
)
THEN_OTHER = Workflow(Sequence(Event("paid"), Event("shipped"), Event("paid")), id="w")
BOTH = Workflow(Parallel(Event("paid", id="one"), Event("paid", id="two")), id="w")


def letter(number: int, name: str = "paid", **more: Any) -> Letter:
    only = more.pop("only", None)
    found = Stimulus(id=f"s{number}", event_name=name, instance_id="i", input=values.encode(number), **more)
    return Letter(found, (found.id,), only)


def applied(job: MailJob, live: Any) -> int:
    """How often the job delivered, as in a burst."""
    count = 0
    while job.apply(live):
        count += 1
        run_segment(live, Limits())
    return count


class Retried:
    def __init__(self) -> None:
        self.jobs: list[Any] = []

    def again(self, job: Any) -> None:
        self.jobs.append(job)


async def test_letters_are_delivered_in_their_order_as_one_job() -> None:
    live, job = begun(TWICE), MailJob(KEY, [letter(1), letter(2)])

    assert applied(job, live) == 2
    assert live.spare_outputs or live.root.scope[live.root.scope[1].outputs["got"]] == [1, 2]
    assert (job.consumes_inbox, job.resumes) == (("s1", "s2"), ("b1", "b2"))


async def test_a_letter_that_fits_no_bookmark_stays_open() -> None:
    live, job = begun(TWICE), MailJob(KEY, [letter(1, "other"), letter(2)])

    assert applied(job, live) == 1
    assert [item.is_open for item in job.letters] == [True, False]
    assert job.consumes_inbox == ("s2",)


async def test_a_wait_that_the_inbox_was_not_compared_with_ends_the_job() -> None:
    """An older stimulus may be kept for it: the letters behind it are delivered after it."""
    live, job = begun(THEN_OTHER), MailJob(KEY, [letter(1), letter(3)], seen=1)

    assert applied(job, live) == 1
    assert job.stale
    assert job.letters[1].is_open


async def test_a_letter_for_one_bookmark_goes_to_no_other() -> None:
    live = begun(BOTH)

    assert applied(MailJob(KEY, [letter(1, only="b2")]), live) == 1
    assert list(live.bookmarks) == ["b1"]
    assert applied(MailJob(KEY, [letter(1, only="b2")]), live) == 0


async def test_a_letter_that_every_bookmark_declines_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    live, job = begun(BOTH), MailJob(KEY, [letter(1)])
    monkeypatch.setattr(delivery, "resume", lambda *_: False)

    assert not job.apply(live)
    assert job.letters[0].declined == [1, 2]
    assert job.letters[0].is_open


async def test_a_refused_letter_holds_up_the_letters_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    live, job = begun(TWICE), MailJob(KEY, [letter(1), letter(2)])

    def refuse(*_: Any) -> bool:
        raise PayloadRefused("paid", [], instance_id="i", bookmark_id="b1")

    monkeypatch.setattr(delivery, "resume", refuse)

    assert not job.apply(live)
    assert [item.is_open for item in job.letters] == [False, True]


async def test_an_instance_at_rest_refuses_them() -> None:
    live = begun(TWICE)
    applied(MailJob(KEY, [letter(1), letter(2)]), live)

    with pytest.raises(InstanceAtRest):
        MailJob(KEY, [letter(3)]).apply(live)


async def test_a_burst_that_runs_again_begins_anew() -> None:
    job = MailJob(KEY, [letter(1), letter(2)])
    applied(job, begun(TWICE))

    assert applied(job, begun(TWICE)) == 2
    assert job.consumes_inbox == ("s1", "s2")


async def test_after_a_conflict_the_caller_matches_again() -> None:
    job = MailJob(KEY, [letter(1)])
    applied(job, begun(TWICE))

    job.on_conflict(Conflict(reason=ConflictReason.VERSION), Retried())  # type: ignore[arg-type]

    assert job.lost
    assert job.letters[0].is_open
    assert job.answer is not None
    assert job.answer.done()


async def test_a_letter_whose_key_was_delivered_before_only_loses_its_row() -> None:
    job, retries = MailJob(KEY, [letter(1, guarded=True), letter(2)]), Retried()
    applied(job, begun(TWICE))
    (guard,) = job.guards
    assert guard.kind is GuardKind.KEY

    job.on_conflict(Conflict(reason=ConflictReason.KEY, name=guard.name), retries)  # type: ignore[arg-type]

    assert retries.jobs == [job]
    assert applied(job, begun(TWICE)) == 1
    assert job.consumes_inbox == ("s1", "s2")
    assert job.guards == ()
