"""Plans of alterations, executed in pages. The commit of a page holds the progress of the plan and the row of the next page.

If a node dies within a page, the next node repeats it: each alteration carries an idempotency key derived from the plan, so no
instance is altered twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from holdfast.errors import HoldfastError, PermissionDenied
from holdfast.model.alterations import (
    ALTERATION,
    PERMISSIONS,
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
from holdfast.model.stored import InstanceKey
from holdfast.model.work import WorkRow
from holdfast.ports import Clock, PrincipalDirectory, Services, Store
from holdfast.runtime.commits.jobs.alteration import AlterJob, Targets, targets_of
from holdfast.runtime.commits.jobs.operator import OperatorRequest
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.commits.plan_rows import completed_row, page_row, read_page
from holdfast.runtime.commits.spent_rows import SpentRows
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import AWAY
from holdfast.runtime.plans.plans import Plans

logger = logging.getLogger("holdfast")

PAGE = 100


class AlterationPages:
    take_own: Callable[[Iterable[WorkRow]], None]
    """Takes rows that this node has just added and serves itself; set by the node."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        membership: Membership,
        plans: Plans,
        lanes: Lanes,
        spent: SpentRows,
        services: Services,
    ) -> None:
        self._store = store
        self._clock = clock
        self._membership = membership
        self._plans = plans
        self._lanes = lanes
        self._spent = spent
        self._services = services

    async def execute(self, row: WorkRow) -> None:
        """Alter the instances of one page and commit the progress; the last page completes the plan."""
        page, tenant = read_page(row.payload), row.tenant
        record = await self._store.get_record(tenant, ALTERATION, page.plan)
        plan = None if record is None else plan_of(record)
        if plan is None or plan.page != page.number or plan.state is PlanState.COMPLETED:
            self._spent.delete(tenant, row.id)  # The plan was deleted, or the page is done.
            return
        if not page.number and (reason := await self._refusal(tenant, plan)):
            await self._refuse(row, plan, reason)
            return
        query = InstanceQuery(
            tenant=tenant,
            filter=plan.filter,
            sort=InstanceSort.ID,
            descending=False,
            limit=PAGE,
            cursor=page.after,
        )
        found = await self._store.search(query)
        if not page.number and not plan.total:
            plan = replace(plan, total=await self._store.count(tenant, plan.filter))  # An activity submitted it.
        plan = await self._alter(tenant, plan, found.items)
        now, added = self._clock.now(), list[WorkRow]()
        over = found.cursor is None
        state = PlanState.COMPLETED if over else PlanState.RUNNING
        plan = replace(plan, page=page.number + 1, updated=now, state=state)
        if over:
            added.append(completed_row(tenant, plan, now))
        else:
            added.append(page_row(tenant, replace(page, number=page.number + 1, after=found.cursor), now))
        commit = Commit(
            tenant=tenant,
            burst_id=self._membership.next_id(),
            work_consumed=(row.id,),
            work_added=tuple(added),
            records=(record_of(plan, tenant),),
        )
        (outcome,) = await self._store.commit([commit])
        if isinstance(outcome, Committed):
            self.take_own(added)

    async def _refusal(self, tenant: str, plan: AlterationPlan) -> str:
        """The reason why the principal of the submitting instance may not alter instances; empty if it may."""
        if plan.principal is None:
            return ""  # A request, which was checked, or an instance of a schedule or of the application.
        directory = self._services.get(PrincipalDirectory)  # type: ignore[type-abstract]  # a port names the service
        if await directory.may(self._store, tenant, plan.principal, PERMISSIONS):
            return ""
        return str(PermissionDenied(" and ".join(PERMISSIONS), plan.principal))

    async def _refuse(self, row: WorkRow, plan: AlterationPlan, reason: str) -> None:
        """Complete a plan without an alteration."""
        now = self._clock.now()
        logger.warning("The alteration plan %s was refused: %s", plan.id, reason)
        plan = replace(plan, page=1, updated=now, state=PlanState.COMPLETED, refused=reason)
        completed = completed_row(row.tenant, plan, now)
        commit = Commit(
            tenant=row.tenant,
            burst_id=self._membership.next_id(),
            work_consumed=(row.id,),
            work_added=(completed,),
            records=(record_of(plan, row.tenant),),
        )
        (outcome,) = await self._store.commit([commit])
        if isinstance(outcome, Committed):
            self.take_own([completed])

    async def _alter(self, tenant: str, plan: AlterationPlan, items: tuple[InstanceSummary, ...]) -> AlterationPlan:
        request = OperatorRequest(plan.who, plan.why, plan.filter)
        targets: dict[str, Targets | HoldfastError] = {}
        for name in {item.definition_id for item in items}:
            try:
                targets[name] = await targets_of(self._plans.of(tenant), name, plan.alterations)
            except AWAY:
                raise
            except HoldfastError as error:
                targets[name] = error
        answers = await asyncio.gather(
            *(self._alter_one(tenant, plan, request, item, targets[item.definition_id]) for item in items)
        )
        failures = [answer for answer in answers if isinstance(answer, Verdict)]
        changed = sum(answer is True for answer in answers)
        return replace(
            plan,
            altered=plan.altered + changed,
            unchanged=plan.unchanged + len(answers) - changed - len(failures),
            failed=plan.failed + len(failures),
            failures=(*plan.failures, *failures)[:SAMPLES_MAX],
        )

    async def _alter_one(
        self,
        tenant: str,
        plan: AlterationPlan,
        request: OperatorRequest,
        item: InstanceSummary,
        targets: Targets | HoldfastError,
    ) -> bool | Verdict:
        """Whether the instance was changed, or the reason why not."""
        try:
            if isinstance(targets, HoldfastError):
                raise targets
            key = idempotency_key(operation="alter", target=item.id, key=plan.id)
            job = AlterJob(InstanceKey(tenant, item.id), request, plan.alterations, targets, guards=(key,))
            answer = await self._lanes.ask(job)
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
        # A node that died within this page may have altered the instance before.
        return await self._store.find_guard(tenant, key.ref) is not None
