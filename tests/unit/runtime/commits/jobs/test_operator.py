"""Jobs of operators: journaled with the operator and the reason, and without effect when they are repeated."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Context, Status, Workflow, activity
from holdfast.activities import Event, HumanTask, Sequence, Try, WriteLine
from holdfast.errors import BookmarkNotFound, ExecutionError, TaskNotResumable
from holdfast.execution.effect_failure import failure
from holdfast.execution.segment import Limits, run_segment
from holdfast.model.instance import JournalEvent
from holdfast.model.listing import InstanceFilter
from holdfast.model.work import EffectRef, Owner
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.jobs.effect import EffectJob, HoldJob
from holdfast.runtime.commits.jobs.operator import (
    JournalNote,
    OperatorCancel,
    OperatorRequest,
    OperatorResume,
    OperatorRetry,
    OperatorSkip,
    RecoverEffect,
    ReplayJob,
    still_matches,
)
from holdfast.testing.store_rows import instance
from tests.support.commit_pipeline import KEY, begun

ANN = OperatorRequest("ann", "ticket 7")


@activity(pure=True)
def fail(context: Context) -> None:
    raise ValueError("broken")


@activity
async def pay() -> str:
    return "paid"


def waiting() -> Any:
    return begun(Workflow(Try(Event("paid", id="wait"), finally_=WriteLine("cleaned")), id="w"))


def faulted() -> Any:
    return begun(Workflow(Sequence(fail.bind(id="fail"), WriteLine("next")), id="w"))


def canceled() -> Any:
    live = waiting()
    OperatorCancel(KEY, ANN).apply(live)
    run_segment(live, Limits())
    live.journal.clear()
    return live


def run(live: Any) -> Any:
    run_segment(live, Limits())
    return live.status


def notes(live: Any) -> list[Any]:
    return [entry[4] for entry in live.journal if entry[0] == JournalEvent.OPERATED]


# -- the request -------------------------------------------------------------------------------------------------------


async def test_a_note_names_the_operator_the_verb_and_the_reason() -> None:
    live = waiting()

    assert JournalNote(KEY, ANN, "export", file="i.json").apply(live)
    assert JournalNote(KEY, OperatorRequest("bob"), "export").apply(live)
    assert notes(live) == [
        {"verb": "export", "who": "ann", "why": "ticket 7", "file": "i.json"},
        {"verb": "export", "who": "bob"},
    ]


@pytest.mark.parametrize(
    ("condition", "fits"),
    [
        (InstanceFilter(statuses=("suspended",)), True),
        (InstanceFilter(statuses=("faulted",)), False),
        (InstanceFilter(names=("old",)), False),
        (InstanceFilter(names=("new",)), True),
    ],
)
def test_the_filter_is_matched_with_the_instance_as_it_is_now(condition: InstanceFilter, *, fits: bool) -> None:
    """An earlier job of the batch may have changed it."""
    live = waiting()
    live.name = "new"

    assert still_matches(condition, instance("i", status="faulted", name="old"), live) is fits


def test_a_new_instance_matches_no_filter() -> None:
    assert not still_matches(InstanceFilter(), None, waiting())


# -- retry and skip ----------------------------------------------------------------------------------------------------


def failed_effect() -> Any:
    live = begun(Workflow(Sequence(pay.bind(id="pay")), id="w"))
    (request,) = live.effects.values()
    EffectJob(KEY, EffectRef(request.execution_id, 1, Owner("n", 1)), failure(ValueError("broken"))).apply(live)
    run_segment(live, Limits())
    live.new_effects = []
    return live


async def test_a_retry_runs_a_failed_effect_once_more() -> None:
    live = failed_effect()

    assert OperatorRetry(KEY, ANN, "pay").apply(live)
    assert [request.attempt for request in live.new_effects] == [2]
    assert live.incidents == []
    assert not OperatorRetry(KEY, ANN, "pay").apply(live)
    assert [note["verb"] for note in notes(live)] == ["retry"]


async def test_inputs_that_the_activity_does_not_have_are_refused() -> None:
    live = failed_effect()

    with pytest.raises(ExecutionError, match="has no input 'amount'"):
        OperatorRetry(KEY, ANN, "pay", {"amount": 7}).apply(live)
    assert (notes(live), live.new_effects) == ([], [])


@pytest.mark.parametrize("make", [waiting, canceled])
async def test_a_retry_without_a_failed_activity_changes_nothing(make: Any) -> None:
    live = make()

    assert not OperatorRetry(KEY, ANN).apply(live)
    assert notes(live) == []


async def test_a_replayed_dead_letter_retries_only_its_own_effect() -> None:
    live = faulted()
    failed = live.incidents[0].execution_id

    assert not ReplayJob(KEY, failed + 1).apply(live)
    assert ReplayJob(KEY, failed).apply(live)
    assert not ReplayJob(KEY, failed).apply(canceled())
    assert ReplayJob.is_hint


async def test_a_skipped_activity_counts_as_completed() -> None:
    live = faulted()

    assert OperatorSkip(KEY, ANN, "fail").apply(live)
    assert run(live) is Status.FINISHED
    assert live.lines == ["next"]
    assert [note["verb"] for note in notes(live)] == ["skip"]


async def test_a_skip_without_such_an_activity_changes_nothing() -> None:
    assert not OperatorSkip(KEY, ANN, "wait").apply(canceled())
    with pytest.raises(ExecutionError, match="no activity 'fail'"):
        OperatorSkip(KEY, ANN, "fail").apply(waiting())


# -- recover -----------------------------------------------------------------------------------------------------------


def held() -> tuple[Any, EffectRef]:
    live = begun(Workflow(Sequence(pay.bind(id="pay")), id="w"))
    (request,) = live.effects.values()
    HoldJob(KEY, request.execution_id, "dead").apply(live)
    live.new_effects = []
    return live, EffectRef(request.execution_id, 1, Owner("dead", 1))


async def test_a_held_effect_runs_again_as_the_next_attempt() -> None:
    live, ref = held()
    job = RecoverEffect(KEY, ANN, ref)

    assert job.apply(live)
    assert (job.consumes_effect, live.incidents) == (ref, [])
    assert [(request.execution_id, request.attempt) for request in live.new_effects] == [(ref.execution, 2)]
    assert [note["verb"] for note in notes(live)] == ["recover"]


async def test_an_effect_that_was_recovered_is_not_recovered_again() -> None:
    live, ref = held()
    RecoverEffect(KEY, ANN, ref).apply(live)
    job = RecoverEffect(KEY, ANN, ref)

    assert not job.apply(live)
    assert job.consumes_effect is None
    assert not RecoverEffect(KEY, ANN, ref._replace(execution=99)).apply(live)


# -- resume and cancel -------------------------------------------------------------------------------------------------


async def test_a_resume_is_journaled_before_the_workflow_runs_on() -> None:
    live = waiting()

    assert OperatorResume(KEY, ANN, "b1", None).apply(live)
    assert run(live) is Status.FINISHED
    assert [(note["verb"], note["bookmark"]) for note in notes(live)] == [("resume", "b1")]


async def test_a_refused_resume_is_not_journaled() -> None:
    live = waiting()

    with pytest.raises(BookmarkNotFound):
        OperatorResume(KEY, ANN, "b9", None).apply(live)
    assert notes(live) == []


@pytest.mark.parametrize(("terminate", "lines"), [(False, ["cleaned"]), (True, [])])
async def test_cancel_runs_finally_parts_and_terminate_does_not(*, terminate: bool, lines: list[str]) -> None:
    live = waiting()

    assert OperatorCancel(KEY, ANN, terminate=terminate).apply(live)
    assert run(live) is Status.CANCELED
    assert live.lines == lines
    assert [note["verb"] for note in notes(live)] == ["terminate" if terminate else "cancel"]


async def test_a_cancellation_in_progress_can_only_be_terminated() -> None:
    live = begun(Workflow(Try(Event("paid"), finally_=Event("cleaned")), id="w"))
    OperatorCancel(KEY, ANN).apply(live)
    run(live)

    assert not OperatorCancel(KEY, ANN).apply(live)
    assert OperatorCancel(KEY, ANN, terminate=True).apply(live)
    assert run(live) is Status.CANCELED


@pytest.mark.parametrize("terminate", [False, True])
async def test_an_ended_instance_is_not_canceled_again(*, terminate: bool) -> None:
    live = canceled()

    assert not OperatorCancel(KEY, ANN, terminate=terminate).apply(live)
    assert notes(live) == []


async def test_the_filter_of_the_request_becomes_the_condition_of_the_job() -> None:
    request = OperatorRequest("ann", condition=InstanceFilter(statuses=("faulted",)))
    jobs: list[Job] = [
        OperatorRetry(KEY, request),
        OperatorSkip(KEY, request, "fail"),
        OperatorResume(KEY, request, "b1", None),
        OperatorCancel(KEY, request),
    ]

    assert [job.condition for job in jobs] == [request.condition] * 4


# -- human tasks -------------------------------------------------------------------------------------------------------


def asking() -> Any:
    return begun(Workflow(Sequence(Sequence(HumanTask("Approve", role="bosses", id="ask"), id="part")), id="w"))


OPERATOR = OperatorRequest("ann", may_answer=False)


async def test_an_operator_who_may_not_answer_resumes_and_skips_no_human_task() -> None:
    live = asking()
    (mark,) = live.bookmarks.values()

    for job in (
        OperatorResume(KEY, OPERATOR, mark.id, "yes"),
        *(OperatorSkip(KEY, OPERATOR, i) for i in ("ask", "part")),
    ):
        with pytest.raises(TaskNotResumable):
            job.apply(live)
    assert list(live.bookmarks) == [mark.id]
    assert notes(live) == []
    assert OperatorResume(KEY, ANN, mark.id, "yes").apply(live)


async def test_an_operator_who_may_not_answer_resumes_other_bookmarks() -> None:
    live = waiting()
    (mark,) = live.bookmarks.values()

    assert OperatorResume(KEY, OPERATOR, mark.id, None).apply(live)
