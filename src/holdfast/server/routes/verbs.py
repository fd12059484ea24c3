"""`/api/instances`: what operators do with them. Every answer that changes one names its position."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, Header
from starlette.responses import Response

from holdfast.model.principal import Principal
from holdfast.server.backend import Server
from holdfast.server.documented_answers import answers
from holdfast.server.instance_transfer import InstanceTransfer
from holdfast.server.operator_service import OperatorService
from holdfast.server.routing import Routes
from holdfast.server.schemas.base import Done
from holdfast.server.schemas.instances import (
    AlterRequest,
    CancelRequest,
    ForkRequest,
    ImportedInstance,
    InstanceResult,
    InstancesBulkRequest,
    InstancesBulkResult,
    RecoverRequest,
    ResumeRequest,
    RetryRequest,
    SkipRequest,
    VariablesRequest,
)
from holdfast.server.security import admitted, requires

router = Routes("/instances", tags=["instances"], responses=answers(404, 409))

Who = Annotated[Principal, requires("instances:write")]
Deleter = Annotated[Principal, requires("instances:delete")]
Reader = Annotated[Principal, requires("instances:read")]
IdempotencyKey = Annotated[str | None, Header(min_length=1, max_length=200)]


@router.post("/bulk")
async def change_instances(server: Server, who: Reader, body: InstancesBulkRequest) -> InstancesBulkResult:
    """Cancel, retry or delete many, by ids or by filter; the filter is tested again on each one. Whoever may do it with one
    may do it with many."""
    admitted(who, "instances:delete" if body.action == "delete" else "instances:write")
    return await OperatorService(server, who.name).bulk(body)


@router.post("/import", status_code=201)
async def import_instance(
    server: Server, who: Who, document: Annotated[dict[str, Any], Body(description="What `/export` gave.")]
) -> ImportedInstance:
    """Bring an instance back, or from another server. 409 if it exists. A definition that comes along and is not here yet
    needs `definitions:write`."""
    return await InstanceTransfer(server).take(document, who)


@router.post("/{id}/cancel")
async def cancel_instance(id: str, server: Server, who: Who, body: CancelRequest | None = None) -> InstanceResult:
    """End it; cleanup activities run unless `terminate` is set."""
    return await OperatorService(server, who.name).cancel(id, body or CancelRequest())


@router.post("/{id}/retry")
async def retry_instance(id: str, server: Server, who: Who, body: RetryRequest | None = None) -> InstanceResult:
    """Run what failed again: all of it, or one activity, with other inputs if they are given."""
    return await OperatorService(server, who.name).retry(id, body or RetryRequest())


@router.post("/{id}/resume")
async def resume_instance(
    id: str, server: Server, who: Who, body: ResumeRequest | None = None, idempotency_key: IdempotencyKey = None
) -> InstanceResult:
    """Resume a bookmark; the only one, if none is named."""
    wanted = body or ResumeRequest()
    return await OperatorService(server, who.name).resume(id, wanted.bookmark_id, wanted.payload, idempotency_key)


@router.post("/{id}/skip")
async def skip_activity(id: str, server: Server, who: Who, body: SkipRequest) -> InstanceResult:
    """Go on as if a failed or waiting activity had completed."""
    return await OperatorService(server, who.name).skip(id, body)


@router.post("/{id}/alter")
async def alter_instance(id: str, server: Server, who: Who, body: AlterRequest) -> InstanceResult:
    """Change a living instance: variables, version, what is scheduled. All alterations, or none."""
    return await OperatorService(server, who.name).alter(id, body.alterations, body.why)


@router.patch("/{id}/variables")
async def change_variables(id: str, server: Server, who: Who, body: VariablesRequest) -> InstanceResult:
    return await OperatorService(server, who.name).set_variables(id, body.variables, body.why)


@router.post("/{id}/fork", status_code=201)
async def fork_instance(id: str, server: Server, who: Who, body: ForkRequest | None = None) -> ImportedInstance:
    """Another instance that goes on from the same state."""
    return await OperatorService(server, who.name).fork(id, body or ForkRequest())


@router.post("/{id}/recover")
async def recover_instance(id: str, server: Server, who: Who, body: RecoverRequest | None = None) -> Done:
    """Run effects again that were lost with their process and wait for somebody's word (`on_lost: hold`); how many."""
    return await OperatorService(server, who.name).recover(id, body or RecoverRequest())


@router.delete("/{id}", status_code=204)
async def delete_instance(id: str, server: Server, who: Deleter) -> None:
    """Remove it from every table; only one that has ended."""
    await OperatorService(server, who.name).delete(id)


@router.get(
    "/{id}/export",
    response_class=Response,
    dependencies=[requires("instances:read"), requires("definitions:read")],
    responses={200: {"content": {"application/json": {"schema": {"type": "object"}}}}},
)
async def export_instance(id: str, server: Server) -> Response:
    """Everything of one instance, from one moment, with the definition that it runs."""
    data = await InstanceTransfer(server).pack(id)
    return Response(
        data, media_type="application/json", headers={"Content-Disposition": f'attachment; filename="{id}.json"'}
    )
