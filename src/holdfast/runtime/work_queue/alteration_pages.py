"""A plan of alterations, worked off in pages. A page's commit holds the plan's progress and the row of the next page.

Whoever dies half-way leaves the page to the next node: each alteration of an instance carries a key made of the plan, so that
none is made twice.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import HoldfastError
from holdfast.model.alterations import (
    ALTERATION,
    SAMPLES_MAX,
    AlterationPlan,
    Fate,
    PlanState,
    Verdict,
    plan_of,
    record_of,
)
from holdfast.model.commit import Commit, Committed
from holdfast.model.guard import idempotency_key
from holdfast.model.listing import InstanceQuery, InstanceSort, InstanceSummary
from holdfast.model.work import WorkKind, WorkRow, queue_of
from holdfast.runtime.commits.jobs.alteration import AlterJob, Targets, targets_of
from holdfast.runtime.commits.jobs.operator import Asked
from holdfast.runtime.observability.outage_log import AWAY

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.runtime.cluster.node import Node

PAGE = 100


class Page(Struct, frozen=True, kw_only=True):
    plan: str
    number: int = 0
    after: str | None = None
    """The cursor of the page before."""


_read = msgspec.msgpack.Decoder(Page).decode


def page_row(tenant: str, page: Page, now: datetime) -> WorkRow:
    return WorkRow(
        tenant=tenant,
        id=f"alteration.{page.plan}.{page.number}",
        kind=WorkKind.ALTERATION,
        queue=queue_of(tenant),
        created=now,
        payload=msgspec.msgpack.encode(page),
    )


async def alter_page(node: Node, row: WorkRow) -> None:
    """Alter the instances of one page and say so; the last page completes the plan."""
    store, page = node.store, _read(row.payload)
    record = await store.get_record(node.tenant, ALTERATION, page.plan)
    plan = None if record is None else plan_of(record)
    if plan is None or plan.page != page.number or plan.state is PlanState.COMPLETED:
        node.use_up(row.id)  # Somebody deleted the plan, or this page is done.
        return
    query = InstanceQuery(
        tenant=node.tenant,
        filter=plan.filter,
        sort=InstanceSort.ID,
        descending=False,
        limit=PAGE,
        cursor=page.after,
    )
    found = await store.search(query)
    plan = await _altered(node, plan, found.items)
    now, added = node.clock.now(), list[WorkRow]()
    over = found.cursor is None
    plan = replace(plan, page=page.number + 1, updated=now, state=PlanState.COMPLETED if over else PlanState.RUNNING)
    if not over:
        added.append(page_row(node.tenant, replace(page, number=page.number + 1, after=found.cursor), now))
    commit = Commit(
        tenant=node.tenant,
        burst_id=node.next_id(),
        work_consumed=(row.id,),
        work_added=tuple(added),
        records=(record_of(plan, node.tenant),),
    )
    (outcome,) = await store.commit([commit])
    if isinstance(outcome, Committed):
        node.uptake.take_own(added)


async def _altered(node: Node, plan: AlterationPlan, items: tuple[InstanceSummary, ...]) -> AlterationPlan:
    asked = Asked(plan.who, plan.why, plan.filter)
    targets: dict[str, Targets | HoldfastError] = {}
    for name in {item.definition_id for item in items}:
        try:
            targets[name] = await targets_of(node, name, plan.alterations)
        except AWAY:
            raise
        except HoldfastError as error:
            targets[name] = error
    answers = await asyncio.gather(*(_one(node, plan, asked, item, targets[item.definition_id]) for item in items))
    failures = [answer for answer in answers if isinstance(answer, Verdict)]
    changed = sum(answer is True for answer in answers)
    return replace(
        plan,
        altered=plan.altered + changed,
        unchanged=plan.unchanged + len(answers) - changed - len(failures),
        failed=plan.failed + len(failures),
        failures=(*plan.failures, *failures)[:SAMPLES_MAX],
    )


async def _one(
    node: Node, plan: AlterationPlan, asked: Asked, item: InstanceSummary, targets: Targets | HoldfastError
) -> bool | Verdict:
    """Whether it was changed, or why not."""
    try:
        if isinstance(targets, HoldfastError):
            raise targets
        key = idempotency_key(operation="alter", target=item.id, key=plan.id)
        job = AlterJob(item.id, asked, plan.alterations, targets, guards=(key,))
        assert job.answer is not None
        node.submit(job)
        answer = await job.answer
    except AWAY:
        raise
    except HoldfastError as error:
        return Verdict(
            instance_id=item.id,
            definition_id=item.definition_id,
            version=item.definition_version,
            fate=Fate.REFUSED,
            reasons=(str(error),),
        )
    if job.changed and not answer.dropped:
        return True
    # Whoever had this page before may have altered it, and died before saying so.
    return await node.store.find_guard(node.tenant, key.ref) is not None
