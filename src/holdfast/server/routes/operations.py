"""`/api/alterations`, `/api/dead-letters`, `/api/incidents`: routes for operators."""

from __future__ import annotations

from typing import Annotated

import msgspec

from holdfast.model.alterations import ALTERATION, AlterationPlan
from holdfast.model.listing import InstanceFilter
from holdfast.model.principal import Principal
from holdfast.model.values import shown
from holdfast.server.backend import Server
from holdfast.server.documented_answers import answers
from holdfast.server.operator_service import as_filter
from holdfast.server.pagination import Cursor, Limit, Total
from holdfast.server.problems import Refusal, not_found
from holdfast.server.routing import Routes
from holdfast.server.schemas.base import Done, Page
from holdfast.server.schemas.instances import IncidentItem
from holdfast.server.schemas.operations import (
    AlterationItem,
    AlterationOutcome,
    AlterationRequest,
    DeadLetterItem,
    IdsRequest,
)
from holdfast.server.security import requires
from holdfast.server.views import dead_letters as letters, incidents

router = Routes(tags=["operations"], responses=answers())

READ, INSTANCES = requires("operations:read"), requires("instances:read")
Operator = Annotated[Principal, requires("operations:write")]


@router.post("/alterations", status_code=202, dependencies=[requires("instances:write")], responses=answers(404, 409))
async def plan_alterations(server: Server, who: Operator, body: AlterationRequest) -> AlterationItem:
    """Alter many instances: a stored plan that is executed in the background. `dry_run` only reports the effects."""
    if not body.ids and body.filter is None:
        raise Refusal(422, "alteration.nothing", "Name the instances: send ids or a filter.")
    service = server.runtime.alterations
    filter = InstanceFilter() if body.filter is None else as_filter(body.filter)
    if body.ids:
        filter = msgspec.structs.replace(filter, ids=tuple(body.ids))
    plan = await service.plan(filter, body.alterations, dry_run=body.dry_run, who=who.name, why=body.why)
    return _plan(plan if body.dry_run else await service.run(plan.id))


@router.get("/alterations", dependencies=[READ, INSTANCES])
async def list_alterations(server: Server, limit: Limit = 50, cursor: Cursor = None) -> Page[AlterationItem]:
    """Plans, latest first."""
    found = await server.runtime.alterations.list(limit=limit, after=cursor)
    return Page(items=[_plan(item) for item in found.items], total=found.total, next=found.cursor)


@router.get("/alterations/{id}", dependencies=[READ, INSTANCES], responses=answers(404))
async def get_alteration(id: str, server: Server) -> AlterationItem:
    """A plan with its progress."""
    if await server.store.get_record(server.tenant, ALTERATION, id) is None:
        raise not_found("alteration", id)
    return _plan(await server.runtime.alterations.get(id))


def _plan(plan: AlterationPlan) -> AlterationItem:
    return AlterationItem(
        id=plan.id,
        state=plan.state.value,
        dry_run=plan.dry_run,
        alterations=[msgspec.to_builtins(item, enc_hook=shown) for item in plan.alterations],
        total=plan.total,
        altered=plan.altered,
        unchanged=plan.unchanged,
        failed=plan.failed,
        fates=dict(plan.fates),
        created=plan.created,
        updated=plan.updated,
        who=plan.who,
        why=plan.why,
        refused=plan.refused,
        results=[
            AlterationOutcome(
                instance_id=item.instance_id,
                definition_id=item.definition_id,
                version=item.version,
                outcome=item.fate.value,
                message=" ".join(item.reasons),
            )
            for item in (plan.verdicts if plan.dry_run else plan.failures)
        ],
    )


@router.get("/dead-letters", dependencies=[READ])
async def list_dead_letters(
    server: Server, limit: Limit = 50, cursor: Cursor = None, total: Total = False
) -> Page[DeadLetterItem]:
    """Work that failed permanently, latest first."""
    return await letters.page(server, limit, cursor, count=total)


@router.post("/dead-letters/replay")
async def replay_dead_letters(server: Server, who: Operator, body: IdsRequest) -> Done:
    """Return the work to its queue, unchanged."""
    operators = server.runtime.operators
    missing = await letters.missing(server, body.ids)
    return Done(count=await operators.replay(body.ids, who=who.name, why=body.why), missing=missing)


@router.post("/dead-letters/discard")
async def discard_dead_letters(server: Server, who: Operator, body: IdsRequest) -> Done:
    """Delete the work; it will not be retried."""
    operators = server.runtime.operators
    missing = await letters.missing(server, body.ids)
    return Done(count=await operators.discard(body.ids, who=who.name, why=body.why), missing=missing)


@router.get("/incidents", dependencies=[INSTANCES])
async def list_incidents(server: Server, only_open: bool = True) -> list[IncidentItem]:
    """Incidents of all instances, latest first; at most 1,000."""
    return await incidents.listed(server, only_open=only_open)
