"""`/api/instances`: operator actions. Every response that changes an instance names its position."""

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
    """Cancel, retry or delete many instances, by ids or by filter; the filter is checked again for each one. Requires the
    permission for the same action on one instance."""
    admitted(who, "instances:delete" if body.action == "delete" else "instances:write")
    return await OperatorService.of(server, who).bulk(body)


@router.post("/import", status_code=201)
async def import_instance(
    server: Server, who: Who, document: Annotated[dict[str, Any], Body(description="Response of `/export`.")]
) -> ImportedInstance:
    """Import an instance from this or another server. 409 if it exists. Importing a definition that is missing here requires
    `definitions:write`."""
    return await InstanceTransfer(server).take(document, who)


@router.post("/{id}/cancel")
async def cancel_instance(id: str, server: Server, who: Who, body: CancelRequest | None = None) -> InstanceResult:
    """Cancel an instance; cleanup activities run unless `terminate` is set."""
    return await OperatorService.of(server, who).cancel(id, body or CancelRequest())


@router.post("/{id}/retry")
async def retry_instance(id: str, server: Server, who: Who, body: RetryRequest | None = None) -> InstanceResult:
    """Retry all failed activities, or one activity, optionally with other inputs."""
    return await OperatorService.of(server, who).retry(id, body or RetryRequest())


@router.post("/{id}/resume")
async def resume_instance(
    id: str, server: Server, who: Who, body: ResumeRequest | None = None, idempotency_key: IdempotencyKey = None
) -> InstanceResult:
    """Resume a bookmark; without a name, the only one."""
    wanted = body or ResumeRequest()
    return await OperatorService.of(server, who).resume(id, wanted.bookmark_id, wanted.payload, idempotency_key)


@router.post("/{id}/skip")
async def skip_activity(id: str, server: Server, who: Who, body: SkipRequest) -> InstanceResult:
    """Continue as if a failed or waiting activity had completed."""
    return await OperatorService.of(server, who).skip(id, body)


@router.post("/{id}/alter")
async def alter_instance(id: str, server: Server, who: Who, body: AlterRequest) -> InstanceResult:
    """Alter a live instance: variables, version, scheduled activities. All alterations apply, or none."""
    return await OperatorService.of(server, who).alter(id, body.alterations, body.why)


@router.patch("/{id}/variables")
async def change_variables(id: str, server: Server, who: Who, body: VariablesRequest) -> InstanceResult:
    return await OperatorService.of(server, who).set_variables(id, body.variables, body.why)


@router.post("/{id}/fork", status_code=201)
async def fork_instance(id: str, server: Server, who: Who, body: ForkRequest | None = None) -> ImportedInstance:
    """Create a new instance that continues from the same state."""
    return await OperatorService.of(server, who).fork(id, body or ForkRequest())


@router.post("/{id}/recover")
async def recover_instance(id: str, server: Server, who: Who, body: RecoverRequest | None = None) -> Done:
    """Rerun effects that were lost with their process and await an operator (`on_lost: hold`). Returns their number."""
    return await OperatorService.of(server, who).recover(id, body or RecoverRequest())


@router.delete("/{id}", status_code=204)
async def delete_instance(id: str, server: Server, who: Deleter) -> None:
    """Delete an instance that has ended, from every table."""
    await OperatorService.of(server, who).delete(id)


@router.get(
    "/{id}/export",
    response_class=Response,
    dependencies=[requires("instances:read"), requires("definitions:read")],
    responses={200: {"content": {"application/json": {"schema": {"type": "object"}}}}},
)
async def export_instance(id: str, server: Server) -> Response:
    """Everything about one instance, as of one moment, with its pinned definition."""
    data = await InstanceTransfer(server).pack(id)
    return Response(
        data, media_type="application/json", headers={"Content-Disposition": f'attachment; filename="{id}.json"'}
    )
