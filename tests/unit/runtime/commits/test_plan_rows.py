"""Rows of alteration plans: the record and the first page begin a plan; the last page tells that it has completed."""

from __future__ import annotations

from typing import Any

from holdfast.model.alterations import ALTERATION, PLAN_COMPLETED, AlterationPlan, Cancel, PlanState, plan_of
from holdfast.model.listing import InstanceFilter
from holdfast.model.work import WorkKind
from holdfast.runtime.commits.plan_rows import Page, add_plans, completed_row, read_page
from holdfast.runtime.commits.work_rows import read_stimulus
from holdfast.testing.store_rows import AT

PLAN = AlterationPlan(
    id="p",
    filter=InstanceFilter(ids=("a",)),
    alterations=(Cancel(),),
    who="ann",
    state=PlanState.RUNNING,
    created=AT,
    updated=AT,
    total=3,
    altered=2,
    failed=1,
)


def test_a_submitted_plan_is_a_record_and_its_first_page() -> None:
    rows: dict[str, Any] = {"work_added": ("other",)}

    add_plans(rows, "acme", [PLAN], AT)

    (record,) = rows["records"]
    other, page = rows["work_added"]
    assert (record.tenant, record.kind, plan_of(record)) == ("acme", ALTERATION, PLAN)
    assert (other, page.kind, read_page(page.payload)) == ("other", WorkKind.ALTERATION, Page(plan="p"))


def test_a_completed_plan_is_a_stimulus_with_its_counts() -> None:
    sent = read_stimulus(completed_row("acme", PLAN, AT))

    assert (sent.type, sent.payload, sent.is_broadcast) == (PLAN_COMPLETED, {"plan_id": "p"}, True)
    assert sent.input == {"plan_id": "p", "total": 3, "altered": 2, "unchanged": 0, "failed": 1}
