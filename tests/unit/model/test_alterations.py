"""Alteration plans as records, and their progress."""

from __future__ import annotations

import pytest

from holdfast.errors import ExecutionError
from holdfast.model.alterations import (
    ALTERED,
    AlterationPlan,
    Cancel,
    ModifyVariable,
    PlanState,
    alterations_of,
    altered_filter,
    filter_of,
    plan_of,
    record_of,
)
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


def test_alterations_and_filters_are_read_from_json() -> None:
    assert alterations_of([{"type": "cancel", "terminate": True}, Cancel()]) == (Cancel(terminate=True), Cancel())
    assert filter_of({"ids": ["a"], "created_from": AT}) == InstanceFilter(ids=("a",), created_from=AT)


@pytest.mark.parametrize("given", [{}, {"ids": []}, {"definition_id": "order"}, {"ids": 7}])
def test_a_filter_that_would_match_everything_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ExecutionError):
        filter_of(given)


def test_a_filter_is_narrowed_to_instances_that_can_be_altered() -> None:
    assert altered_filter(InstanceFilter()).statuses == ALTERED
    assert altered_filter(InstanceFilter(statuses=("suspended", "finished"))).statuses == ("suspended",)
    with pytest.raises(ExecutionError):
        altered_filter(InstanceFilter(statuses=("finished",)))
