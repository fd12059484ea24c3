"""Alteration plans as records, and their progress."""

from __future__ import annotations

from holdfast.model.alterations import AlterationPlan, Cancel, ModifyVariable, PlanState, plan_of, record_of
from holdfast.model.listing import InstanceFilter
from holdfast.testing.store_rows import AT, later

PLAN = AlterationPlan(
    id="p",
    filter=InstanceFilter(definition_ids=("order",)),
    alterations=(ModifyVariable(variable="sum", value=5), Cancel()),
    who="ann",
    why="a mistake",
    state=PlanState.RUNNING,
    created=AT,
    updated=later(5),
    altered=3,
    unchanged=2,
    failed=1,
)


def test_a_plan_survives_its_record() -> None:
    row = record_of(PLAN, "acme", version=4)

    assert plan_of(row) == PLAN
    assert (row.tenant, row.id, row.version, row.owner, row.state) == ("acme", "p", 4, "ann", "running")


def test_progress_counts_every_instance_that_was_visited() -> None:
    assert PLAN.done == 6
