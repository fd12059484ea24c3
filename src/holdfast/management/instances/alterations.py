"""Alterations of instances: one at once, or a plan for all that match a filter, with a dry run. The cluster executes plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import ExecutionError, HoldfastError, InstanceEnded
from holdfast.model.alterations import (
    ALTERATION,
    ALTERED,
    SAMPLES_MAX,
    Alteration,
    AlterationPlan,
    Fate,
    PlanState,
    Verdict,
    alterations_of,
    altered_filter,
    plan_of,
    record_of,
)
from holdfast.model.listing import InstanceFilter, InstanceQuery, InstanceSort, InstanceSummary
from holdfast.model.record_rows import RecordQuery, RecordRow
from holdfast.runtime.commits.jobs.alteration import AlterJob, Targets, targets_of, verdict_of
from holdfast.runtime.commits.jobs.operator import OperatorRequest
from holdfast.runtime.commits.plan_rows import Page, page_row
from holdfast.runtime.facade import Runtime
from holdfast.runtime.work_queue.alteration_pages import PAGE


class AlterationPage(Struct, frozen=True, kw_only=True):
    items: tuple[AlterationPlan, ...]
    total: int
    cursor: str | None = None


class Alterations:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    # -- one instance --------------------------------------------------------------------------------------------------

    async def alter(
        self,
        instance_id: str,
        alterations: Sequence[Alteration | Mapping[str, Any]],
        *,
        who: str,
        why: str | None = None,
    ) -> bool:
        """Alter one instance: all of it in one commit, or nothing. False if there was nothing to change. Raises `InstanceEnded`
        for a finished or canceled instance."""
        runtime, wanted = self._runtime, alterations_of(alterations)
        row = await runtime.row(instance_id)
        if row.status not in ALTERED:
            raise InstanceEnded(instance_id, row.status)
        targets = await targets_of(runtime.plans, row.definition_id, wanted)
        job = AlterJob(runtime.key(instance_id), OperatorRequest(who, why), wanted, targets)
        answer = await runtime.ask(job)
        if not job.changed and (status := (await runtime.row(instance_id)).status) not in ALTERED:
            raise InstanceEnded(instance_id, status)  # It ended since the row was read.
        return job.changed and not answer.dropped

    # -- plans ---------------------------------------------------------------------------------------------------------

    async def plan(
        self,
        filter: InstanceFilter,
        alterations: Sequence[Alteration | Mapping[str, Any]],
        *,
        dry_run: bool = False,
        who: str,
        why: str | None = None,
    ) -> AlterationPlan:
        """Store a plan; `run` begins it. A dry run stores and changes nothing: its plan has the fate of every instance that
        matches (`fates`, `verdicts`)."""
        runtime, now = self._runtime, self._runtime.clock.now()
        plan = AlterationPlan(
            id=runtime.new_id(),
            filter=altered_filter(filter),
            alterations=alterations_of(alterations),
            who=who,
            why=why,
            created=now,
            updated=now,
            dry_run=dry_run,
        )
        if dry_run:
            return await self._dry_run(plan)
        plan = replace(plan, total=await runtime.store.count(runtime.tenant, plan.filter))
        await runtime.store.put_record(record_of(plan, runtime.tenant))
        return plan

    async def run(self, plan_id: str) -> AlterationPlan:
        """Begin a plan. The nodes that claim its pages execute it. A repeated call changes nothing."""
        runtime, stored = self._runtime, await self._record(plan_id)
        plan, now = plan_of(stored), runtime.clock.now()
        if plan.page or plan.state is PlanState.COMPLETED:
            return plan
        # If another call was first, the plan runs already. If this process dies here, the next call adds the row.
        plan = replace(plan, state=PlanState.RUNNING, updated=now)
        await runtime.store.put_record(record_of(plan, runtime.tenant, stored.version + 1))
        row = page_row(runtime.tenant, Page(plan=plan.id), now)
        await runtime.store.enqueue([row])
        runtime.take_own([row])
        return await self.get(plan_id)

    async def get(self, plan_id: str) -> AlterationPlan:
        """The plan with its progress."""
        return plan_of(await self._record(plan_id))

    async def _record(self, plan_id: str) -> RecordRow:
        row = await self._runtime.store.get_record(self._runtime.tenant, ALTERATION, plan_id)
        if row is None:
            raise ExecutionError(f"There is no alteration plan '{plan_id}'.")
        return row

    async def list(self, *, limit: int = 100, after: str | None = None) -> AlterationPage:
        """Plans, latest first."""
        query = RecordQuery(tenant=self._runtime.tenant, kind=ALTERATION, limit=limit + 1, after=after or "")
        rows = await self._runtime.store.list_records(query)
        total = await self._runtime.store.count_records(query)
        cursor = rows[limit - 1].cursor if len(rows) > limit else None
        return AlterationPage(items=tuple(plan_of(row) for row in rows[:limit]), total=total, cursor=cursor)

    # -- a dry run -----------------------------------------------------------------------------------------------------

    async def _dry_run(self, plan: AlterationPlan) -> AlterationPlan:
        fates: Counter[str] = Counter()
        urgent, others = list[Verdict](), list[Verdict]()
        targets: dict[str, Targets | HoldfastError] = {}
        async for item in self._matching(plan.filter):
            if item.definition_id not in targets:
                targets[item.definition_id] = await self._targets(item.definition_id, plan)
            verdict = await self._verdict(item, plan, targets[item.definition_id])
            fates[verdict.fate.value] += 1
            chosen = urgent if verdict.fate in (Fate.NEEDS_MAPPING, Fate.REFUSED) else others
            if len(chosen) < SAMPLES_MAX:
                chosen.append(verdict)
        return replace(plan, total=fates.total(), fates=dict(fates), verdicts=(*urgent, *others)[:SAMPLES_MAX])

    async def _targets(self, definition_id: str, plan: AlterationPlan) -> Targets | HoldfastError:
        try:
            return await targets_of(self._runtime.plans, definition_id, plan.alterations)
        except HoldfastError as error:
            return error

    async def _verdict(self, item: InstanceSummary, plan: AlterationPlan, targets: Targets | HoldfastError) -> Verdict:
        subject: dict[str, Any] = {
            "instance_id": item.id,
            "definition_id": item.definition_id,
            "version": item.definition_version,
        }
        try:
            if isinstance(targets, HoldfastError):
                raise targets
            _, live = await self._runtime.reader.live(self._runtime.key(item.id))
        except HoldfastError as error:
            return Verdict(**subject, fate=Fate.REFUSED, reasons=(str(error),))
        return verdict_of(live, plan.alterations, targets, OperatorRequest(plan.who, plan.why))

    async def _matching(self, filter: InstanceFilter) -> AsyncIterator[InstanceSummary]:
        cursor: str | None = None
        while True:
            query = InstanceQuery(
                tenant=self._runtime.tenant,
                filter=filter,
                sort=InstanceSort.ID,
                descending=False,
                limit=PAGE,
                cursor=cursor,
            )
            page = await self._runtime.store.search(query)
            for item in page.items:
                yield item
            cursor = page.cursor
            if cursor is None:
                return
