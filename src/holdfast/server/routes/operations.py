"""`/api/alterations`, `/api/dead-letters`, `/api/incidents`: work for operators."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query

from holdfast.model.listing import InstanceFilter
from holdfast.model.principal import Principal
from holdfast.server.backend import Server
from holdfast.server.documented import answers
from holdfast.server.operating import as_filter
from holdfast.server.paging import Limit
from holdfast.server.problems import Refusal
from holdfast.server.schemas.base import Done, Page
from holdfast.server.schemas.instances import IncidentItem
from holdfast.server.schemas.operations import AlterationItem, AlterationRequest, DeadLetterItem, IdsRequest
from holdfast.server.security import requires
from holdfast.server.views import dead_letters as letters, incidents

router = APIRouter(tags=["operations"], responses=answers())

READ = requires("operations:read")
Operator = Annotated[Principal, requires("operations:write")]


@router.post("/alterations", status_code=202, responses=answers(404, 409))
async def plan_alterations(server: Server, who: Operator, body: AlterationRequest) -> AlterationItem:
    """Change many instances: a plan that is kept and worked off in the background. `dry_run` only says what it would do."""
    if not body.ids and body.filter is None:
        raise Refusal(422, "alteration.nothing", "Say which instances: ids or a filter.")
    service: Any = server.runtime.alterations
    filter = None if body.filter is None else as_filter(body.filter)
    if body.ids:
        filter = msgspec.structs.replace(filter or InstanceFilter(), ids=tuple(body.ids))
    plan = await service.plan(filter, body.alterations, dry_run=body.dry_run, who=who.name, why=body.why)
    if not body.dry_run:
        await service.run(plan.id)
        plan = await service.get(plan.id)
    return _plan(plan)


@router.get("/alterations", dependencies=[READ])
async def list_alterations(server: Server, limit: Limit = 50) -> Page[AlterationItem]:
    service: Any = server.runtime.alterations
    found = [_plan(item) for item in await service.list(limit=limit)]
    return Page(items=found, total=len(found))


@router.get("/alterations/{id}", dependencies=[READ], responses=answers(404))
async def get_alteration(id: str, server: Server) -> AlterationItem:
    """A plan with its progress."""
    service: Any = server.runtime.alterations
    return _plan(await service.get(id))


def _plan(plan: Any) -> AlterationItem:
    return AlterationItem.model_validate(msgspec.to_builtins(plan))


@router.get("/dead-letters", dependencies=[READ])
async def list_dead_letters(
    server: Server, limit: Limit = 50, offset: Annotated[int, Query(ge=0, lt=2**31)] = 0
) -> Page[DeadLetterItem]:
    """Work that failed for good, latest first."""
    return await letters.page(server, limit, offset)


@router.post("/dead-letters/replay")
async def replay_dead_letters(server: Server, who: Operator, body: IdsRequest) -> Done:
    """Back to work, as it was."""
    return Done(count=await server.runtime.operators.replay(body.ids, who=who.name, why=body.why))


@router.post("/dead-letters/discard")
async def discard_dead_letters(server: Server, who: Operator, body: IdsRequest) -> Done:
    return Done(count=await server.runtime.operators.discard(body.ids, who=who.name, why=body.why))


@router.get("/incidents", dependencies=[requires("instances:read")])
async def list_incidents(server: Server, only_open: bool = True) -> list[IncidentItem]:
    """Incidents of all instances, latest first; a thousand at most."""
    return await incidents.listed(server, only_open=only_open)
