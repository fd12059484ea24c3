"""Jobs about effects: the attempt that counts, late results, results that cannot be stored, incidents of dead nodes."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from holdfast import Status, Workflow, activity
from holdfast.activities import Sequence
from holdfast.errors import InstanceNotFound, StoreError, StoreUnavailable
from holdfast.execution import delivery
from holdfast.execution.effect_failure import failure
from holdfast.execution.record import EffectFailure, Record
from holdfast.execution.segment import Limits, run_segment
from holdfast.model.commit import Conflict, ConflictReason
from holdfast.model.instance import LOST, JournalEvent
from holdfast.model.work import EffectRef, Owner
from holdfast.runtime.commits.dead_letters import PROCESS_DIED, letter
from holdfast.runtime.commits.jobs.effect import (
    STORE_RETRY_SECONDS,
    EffectJob,
    HoldJob,
    LostJob,
    PoisonJob,
    TakenOverJob,
)
from holdfast.testing.store_rows import AT, work
from tests.support.commit_pipeline import KEY, RecordedRetries, begun

DONE = Record(completed=True)
BROKEN = failure(ValueError("broken"))


@activity
async def pay() -> str:
    return "paid"


def paying() -> tuple[Any, EffectRef]:
    """An instance that waits for an effect, and the reference of its first attempt."""
    live = begun(Workflow(Sequence(pay.bind(id="pay")), id="w"))
    (request,) = live.effects.values()
    return live, EffectRef(request.execution_id, 1, Owner("n", 1))


def canceled() -> tuple[Any, EffectRef]:
    live, ref = paying()
    delivery.cancel(live)
    run_segment(live, Limits())
    assert live.status is Status.CANCELED
    return live, ref


def events(live: Any, event: JournalEvent) -> list[Any]:
    return [entry[4] for entry in live.journal if entry[0] == event]


# -- results -----------------------------------------------------------------------------------------------------------


async def test_a_result_completes_the_activity_and_consumes_its_row() -> None:
    live, ref = paying()
    job = EffectJob(KEY, ref, DONE)

    assert job.apply(live)
    run_segment(live, Limits())
    assert (live.status, job.consumes_effect) == (Status.FINISHED, ref)


async def test_a_failure_faults_the_activity() -> None:
    live, ref = paying()

    assert EffectJob(KEY, ref, BROKEN).apply(live)
    run_segment(live, Limits())
    assert live.status is Status.FAULTED
    assert [item.message for item in live.incidents] == ["broken"]


async def test_a_result_of_an_older_attempt_is_journaled_and_consumes_nothing() -> None:
    live, ref = paying()
    live.effects[ref.execution].attempt = live.waiters[ref.execution].attempt = 2
    job = EffectJob(KEY, ref, DONE)

    assert job.apply(live)
    assert job.consumes_effect is None
    assert events(live, JournalEvent.RESULT_DROPPED) == [{"execution": ref.execution, "attempt": 1}]
    assert ref.execution in live.effects


async def test_the_attempt_of_the_state_follows_a_takeover() -> None:
    """A takeover changes the row and not the state."""
    live, ref = paying()
    taken_over = ref._replace(attempt=3)
    job = EffectJob(KEY, taken_over, DONE)

    assert job.apply(live)
    assert job.consumes_effect == taken_over


async def test_a_result_for_an_ended_instance_changes_nothing() -> None:
    live, ref = canceled()
    job = EffectJob(KEY, ref, DONE)

    assert not job.apply(live)
    assert job.consumes_effect is None


async def test_a_job_that_is_applied_again_consumes_only_what_it_finds_now() -> None:
    live, ref = paying()
    job = EffectJob(KEY, ref, DONE)
    job.apply(live)
    job.apply(canceled()[0])

    assert job.consumes_effect is None


async def test_a_result_resolves_the_incident_of_the_held_effect() -> None:
    live, ref = paying()
    HoldJob(KEY, ref.execution, "dead").apply(live)
    PoisonJob(KEY, "w1", "It ended two processes.").apply(live)

    EffectJob(KEY, ref, DONE).apply(live)
    assert [item.type for item in live.incidents] == ["process-died"]


# -- results that were not stored --------------------------------------------------------------------------------------


async def test_a_conflict_on_its_row_makes_the_result_late() -> None:
    (live, ref), retries = paying(), RecordedRetries()
    job = EffectJob(KEY, ref, DONE)
    job.on_conflict(Conflict(reason=ConflictReason.EFFECT, name=str(ref.execution)), retries)

    assert retries.calls == [("again", job)]
    assert job.apply(live)
    assert job.consumes_effect is None
    assert ref.execution in live.effects
    assert events(live, JournalEvent.RESULT_DROPPED) == [{"execution": ref.execution, "attempt": 1}]


@pytest.mark.parametrize(
    "loss", [Conflict(reason=ConflictReason.EFFECT, name="99"), Conflict(reason=ConflictReason.VERSION)]
)
async def test_other_conflicts_do_not(loss: Conflict) -> None:
    (_, ref), retries = paying(), RecordedRetries()
    job = EffectJob(KEY, ref, DONE)
    job.on_conflict(loss, retries)

    assert (retries.calls, job.late) == ([("again", job)], False)


async def test_a_result_waits_for_a_store_that_is_unavailable() -> None:
    (_, ref), retries = paying(), RecordedRetries()
    job = EffectJob(KEY, ref, DONE)
    job.on_failure(StoreUnavailable("no connection"), retries)

    assert retries.calls == [("later", job, STORE_RETRY_SECONDS)]
    assert job.result is DONE


async def test_the_result_of_a_deleted_instance_is_dropped() -> None:
    (_, ref), retries = paying(), RecordedRetries()
    told: list[BaseException | None] = []
    job = EffectJob(KEY, ref, DONE, consumes_work="w")
    job.on_done = told.append
    job.on_failure(InstanceNotFound("i"), retries)

    assert (retries.calls, told) == ([("delete_row", job)], [None])


async def test_a_result_that_cannot_be_stored_fails_the_activity(caplog: pytest.LogCaptureFixture) -> None:
    (_, ref), retries = paying(), RecordedRetries()
    job = EffectJob(KEY, ref, DONE)
    job.on_failure(StoreError("too large"), retries)

    assert retries.calls == [("submit", job)]
    assert isinstance(job.result, EffectFailure)
    assert job.result.message == "too large"
    assert "cannot be stored" in caplog.text


async def test_a_failure_that_cannot_be_stored_either_ends_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    (_, ref), retries = paying(), RecordedRetries()
    job = EffectJob(KEY, ref, DONE)
    job.on_failure(StoreError("too large"), retries)
    job.on_failure(StoreError("too large"), retries)

    assert len(retries.calls) == 1
    assert [item.message for item in caplog.records if item.levelno == logging.ERROR] == [
        "an effect of instance i stays without a result"
    ]


# -- effects of dead nodes ---------------------------------------------------------------------------------------------


async def test_a_lost_effect_fails_with_a_dead_letter() -> None:
    live, ref = paying()
    dead = letter(work(""), PROCESS_DIED, AT, "It ended three processes.")
    job = LostJob(KEY, ref, BROKEN, dead)

    assert job.apply(live)
    assert job.dead_letters == (dead,)


async def test_a_lost_effect_that_has_a_result_gets_no_dead_letter() -> None:
    live, ref = paying()
    dead = letter(work(""), PROCESS_DIED, AT, "It ended three processes.")
    job = LostJob(KEY, ref, BROKEN, dead)
    job.apply(live)
    job.apply(canceled()[0])

    assert job.dead_letters == ()


@pytest.mark.parametrize(("node", "words"), [("n2", "Node 'n2' died"), ("", "A node was stopped")])
async def test_a_held_effect_is_one_incident(node: str, words: str) -> None:
    live, ref = paying()

    assert HoldJob(KEY, ref.execution, node).apply(live)
    assert not HoldJob(KEY, ref.execution, node).apply(live)
    (incident,) = live.incidents
    assert (incident.type, incident.activity_id, incident.attempt) == (LOST, "pay", 1)
    assert incident.message.startswith(words)
    assert "holdfast instances recover i" in incident.message


async def test_an_effect_that_is_not_open_is_not_held() -> None:
    assert not HoldJob(KEY, 99, "n2").apply(paying()[0])
    live, ref = canceled()
    assert not HoldJob(KEY, ref.execution, "n2").apply(live)


@pytest.mark.parametrize("alone", [False, True])
async def test_a_takeover_is_journaled(*, alone: bool) -> None:
    live, ref = paying()

    assert TakenOverJob(KEY, ref.execution, died="n1", by="n2", attempt=2, alone=alone).apply(live)
    (data,) = events(live, JournalEvent.TAKEN_OVER)
    assert (data["node"], data["by"], data["attempt"], data.get("alone", False)) == ("n1", "n2", 2, alone)
    assert data["message"].startswith("node n1 died, effect taken over by n2, attempt 2")


async def test_a_takeover_of_an_effect_that_is_not_open_is_not_journaled() -> None:
    assert not TakenOverJob(KEY, 99, died="n1", by="n2", attempt=2).apply(paying()[0])
    live, ref = canceled()
    assert not TakenOverJob(KEY, ref.execution, died="n1", by="n2", attempt=2).apply(live)


async def test_poisoned_work_is_one_incident_and_the_queue_is_not_run() -> None:
    live, _ = paying()

    assert PoisonJob(KEY, "w1", "It ended two processes.").apply(live)
    assert not PoisonJob(KEY, "w1", "It ended two processes.").apply(live)
    assert PoisonJob(KEY, "w2", "It ended two processes.").apply(live)
    assert [item.id for item in live.incidents] == ["i-poison-w1", "i-poison-w2"]
    assert not PoisonJob.runs_queue
