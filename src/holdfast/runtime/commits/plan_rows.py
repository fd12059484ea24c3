"""Rows of alteration plans: the work row of a page, and the rows of a plan that an activity submits with its commit (rule H9)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from holdfast.model import values
from holdfast.model.alterations import PLAN_COMPLETED, AlterationPlan, completed_payload, counts_of, record_of
from holdfast.model.work import WorkKind, WorkRow, queue_of
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.work_rows import Stimulus


class Page(Struct, frozen=True, kw_only=True):
    plan: str
    number: int = 0
    after: str | None = None
    """Cursor of the previous page."""


read_page = msgspec.msgpack.Decoder(Page).decode


def page_row(tenant: str, page: Page, now: datetime) -> WorkRow:
    return WorkRow(
        tenant=tenant,
        id=f"alteration.{page.plan}.{page.number}",
        kind=WorkKind.ALTERATION,
        queue=queue_of(tenant),
        created=now,
        payload=msgspec.msgpack.encode(page),
    )


def completed_row(tenant: str, plan: AlterationPlan, now: datetime) -> WorkRow:
    """The stimulus that a plan has completed, for the instances that wait for it."""
    sent = Stimulus(
        id=f"alteration.{plan.id}.completed",
        type=PLAN_COMPLETED,
        payload=values.encode(completed_payload(plan.id)),
        input=values.encode(counts_of(plan)),
    )
    return work_rows.stimulus(tenant, sent, now)


def add_plans(rows: dict[str, Any], tenant: str, plans: Iterable[AlterationPlan], now: datetime) -> None:
    """Add plans that begin with the commit: the record and the row of the first page."""
    for plan in plans:
        rows["records"] = (*rows.get("records", ()), record_of(plan, tenant))
        rows["work_added"] = (*rows.get("work_added", ()), page_row(tenant, Page(plan=plan.id), now))
