"""Alterations of one instance: all of them in one commit, or none."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Holdfast, Workflow
from holdfast.activities import Event, Parallel, Sequence, WriteLine
from holdfast.errors import DefinitionError, MigrationRefused, PersistenceError, VariableNotFound
from holdfast.execution.segment import Limits, run_segment
from holdfast.model.alterations import Alteration, Cancel, CancelActivity, Fate, Migrate, ModifyVariable
from holdfast.model.instance import JournalEvent
from holdfast.model.scope import find
from holdfast.runtime.commits.jobs.alteration import REWRITES_MAX, AlterJob, Target, alter, targets_of, verdict_of
from holdfast.runtime.commits.jobs.operator import OperatorRequest
from tests.support.commit_pipeline import KEY, RecordedRetries, begun, commit_pipeline

ANN = OperatorRequest("ann", "ticket 7")
SET = ModifyVariable(variable="n", value=5)


def version(number: int = 1, wait: str = "wait", *after: Any) -> Workflow:
    return Workflow(Sequence(Event("paid", id=wait), *after), id="w", version=number, variables={"n": 0})


def target(workflow: Workflow) -> Target:
    return Target(Holdfast(entry_points=False).plan(workflow), "c2")


def value(live: Any) -> Any:
    found = find(live.root.scope, "n")
    assert found is not None
    return found[0][found[1]]


def notes(live: Any) -> list[str]:
    return [entry[4]["verb"] for entry in live.journal if entry[0] == JournalEvent.OPERATED]


async def result(job: AlterJob) -> Any:
    assert job.answer is not None
    return await job.answer


# -- changes -----------------------------------------------------------------------------------------------------------


def test_a_variable_is_set_once() -> None:
    live = begun(version())

    assert alter(live, [SET], {}, ANN)
    assert not alter(live, [SET], {}, ANN)
    assert (value(live), notes(live)) == (5, ["modify variable"])


def test_an_activity_is_canceled() -> None:
    live = begun(Workflow(Parallel(Event("a", id="a"), Event("b", id="b")), id="w"))

    assert alter(live, [CancelActivity(activity_id="a")], {}, ANN)
    run_segment(live, Limits())
    assert [mark.activity_id for mark in live.bookmarks.values()] == ["b"]
    assert not alter(live, [CancelActivity(activity_id="a")], {}, ANN)


@pytest.mark.parametrize(("terminate", "verb"), [(False, "cancel"), (True, "terminate")])
def test_an_instance_is_canceled_and_then_left_alone(*, terminate: bool, verb: str) -> None:
    live: Any = begun(version())

    assert alter(live, [Cancel(terminate=terminate)], {}, ANN)
    run_segment(live, Limits())
    assert (live.status.value, notes(live)) == ("canceled", [verb])
    assert not alter(live, [SET], {}, ANN)


def test_a_migration_continues_with_the_other_version() -> None:
    live, new = begun(version()), target(version(2, "wait", WriteLine("new")))

    assert alter(live, [Migrate(version=2)], {2: new}, ANN)
    assert (live.moved_to, live.definition_version, notes(live)) == ("c2", 2, ["migrate"])
    assert not alter(live, [Migrate(version=2)], {2: new}, ANN)


def test_a_migration_without_the_waiting_activity_needs_a_mapping() -> None:
    new = target(version(2, "other"))

    with pytest.raises(MigrationRefused):
        alter(begun(version()), [Migrate(version=2)], {2: new}, ANN)
    live = begun(version())
    assert alter(live, [Migrate(version=2, mapping={"wait": "other"})], {2: new}, ANN)
    assert [mark.activity_id for mark in live.bookmarks.values()] == ["other"]


# -- the job -----------------------------------------------------------------------------------------------------------


async def test_nothing_is_stored_if_one_alteration_fails() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(version())
    job = AlterJob(KEY, ANN, [SET, ModifyVariable(variable="gone", value=1)], {})
    await pipeline.execute(job)

    with pytest.raises(VariableNotFound):
        await result(job)
    row, live = await pipeline.reader.live(KEY)
    assert (row.version, value(live)) == (1, 0)


async def test_an_alteration_decides_by_the_stored_state() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(version())
    answer = await pipeline.run(AlterJob(KEY, ANN, [SET], {}))

    assert (answer.version, pipeline.store.loads) == (2, [[KEY]])
    assert value((await pipeline.reader.live(KEY))[1]) == 5


async def test_rows_that_another_commit_holds_are_rewritten_later_but_not_without_end() -> None:
    retries, held = RecordedRetries(), PersistenceError("locked")
    job = AlterJob(KEY, ANN, [SET], {})
    job.on_failure(held, retries)
    assert retries.calls == [("again", job)]

    job.tries = REWRITES_MAX
    job.on_failure(held, retries)
    assert len(retries.calls) == 1
    with pytest.raises(PersistenceError, match="locked"):
        await result(job)


async def test_other_failures_reach_the_caller() -> None:
    job, retries = AlterJob(KEY, ANN, [SET], {}), RecordedRetries()
    job.on_failure(ZeroDivisionError("a bug"), retries)

    assert retries.calls == []
    with pytest.raises(ZeroDivisionError):
        await result(job)


# -- targets and dry runs ----------------------------------------------------------------------------------------------


async def test_the_versions_to_migrate_to_are_looked_up() -> None:
    pipeline = await commit_pipeline()
    plans = pipeline.plans.of("")
    content = await plans.pin(pipeline.engine.plan(version(2)))
    found = await targets_of(plans, "w", [SET, Migrate(version=2)])

    assert {number: item.content for number, item in found.items()} == {2: content}
    with pytest.raises(DefinitionError, match="no version 3"):
        await targets_of(plans, "w", [Migrate(version=3)])


@pytest.mark.parametrize(
    ("item", "fate"),
    [
        (SET, Fate.APPLIES),
        (ModifyVariable(variable="n", value=0), Fate.STAYS),
        (ModifyVariable(variable="gone"), Fate.REFUSED),
        (Migrate(version=2), Fate.NEEDS_MAPPING),
    ],
)
def test_a_dry_run_predicts_the_result(item: Alteration, fate: Fate) -> None:
    found = verdict_of(begun(version()), [item], {2: target(version(2, "other"))}, ANN)

    assert (found.fate, found.instance_id, found.version) == (fate, "i", 1)
    assert bool(found.reasons) is (fate in (Fate.REFUSED, Fate.NEEDS_MAPPING))
