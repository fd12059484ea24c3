"""`/api/definitions/{id}/execute|dispatch|bulk-dispatch`: start instances."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import Header, Query, Response
from starlette.requests import Request

from holdfast.errors import HoldfastError
from holdfast.model.principal import Principal
from holdfast.server.backend import Server
from holdfast.server.documented_answers import answers
from holdfast.server.problems import Refusal, answer_for
from holdfast.server.routing import Routes
from holdfast.server.schemas.definitions import (
    BulkDispatchRequest,
    BulkDispatchResult,
    DispatchFailure,
    DispatchRequest,
    DispatchResult,
    ExecuteQuery,
    StartRequest,
)
from holdfast.server.schemas.instances import ExecuteResult
from holdfast.server.security import requires
from holdfast.server.start_requests import StartContext, Starter
from holdfast.server.views import definitions

router = Routes("/definitions", tags=["running"], responses=answers(404, 409))

Who = Annotated[Principal, requires("definitions:execute")]
IdempotencyKey = Annotated[
    str | None, Header(min_length=1, max_length=200, description="Requests with the same key start one instance.")
]
CorrelationId = Annotated[str | None, Header(alias="X-Correlation-Id")]
INSTANCE_HEADER = "X-Workflow-Instance-Id"


@router.post(
    "/{id}/execute",
    responses={
        202: {
            "model": ExecuteResult,
            "description": "The instance is still running after the wait; `Location` is its address.",
        }
    },
)
async def execute_definition(
    id: str,
    server: Server,
    who: Who,
    request: Request,
    response: Response,
    body: StartRequest | None = None,
    idempotency_key: IdempotencyKey = None,
    x_correlation_id: CorrelationId = None,
) -> ExecuteResult:
    """Start an instance and wait until it ends or suspends."""
    context = StartContext(who, idempotency_key, x_correlation_id, request.headers.get("traceparent"))
    result, settled = await Starter(server, context).execute(id, body or StartRequest())
    response.headers[INSTANCE_HEADER] = result.instance_id
    if not settled:
        response.status_code = 202
        response.headers["Location"] = f"{server.base_path}/api/instances/{result.instance_id}"
    return result


@router.get(
    "/{id}/execute",
    responses={202: {"model": ExecuteResult, "description": "The instance is still running after the wait."}},
)
async def execute_definition_by_get(
    id: str,
    server: Server,
    who: Who,
    request: Request,
    response: Response,
    wanted: Annotated[ExecuteQuery, Query()],
    x_correlation_id: CorrelationId = None,
) -> ExecuteResult:
    """Start an instance and wait, for clients that can only follow links. Each request starts an instance: caches and link
    previews must not reach it. The inputs are JSON."""
    body = StartRequest(input=read_input(wanted.input), **wanted.model_dump(exclude={"input"}))
    return await execute_definition(id, server, who, request, response, body, x_correlation_id=x_correlation_id)


def read_input(text: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except ValueError as error:  # msgspec's errors are ValueErrors
        raise Refusal(422, "input.invalid", f"`input` is not JSON: {error}.") from error
    if not isinstance(found, dict):
        raise Refusal(422, "input.invalid", '`input` is not a JSON object. Write input={"name": value}.')
    return found


@router.post("/{id}/dispatch", status_code=202)
async def dispatch_definition(
    id: str,
    server: Server,
    who: Who,
    request: Request,
    response: Response,
    body: DispatchRequest | None = None,
    idempotency_key: IdempotencyKey = None,
    x_correlation_id: CorrelationId = None,
) -> DispatchResult:
    """Queue a start. The response names the instance before it has run."""
    context = StartContext(who, idempotency_key, x_correlation_id, request.headers.get("traceparent"))
    result = await Starter(server, context).dispatch(id, body or DispatchRequest())
    if result.instance_ids:
        response.headers[INSTANCE_HEADER] = result.instance_ids[0]
        response.headers["Location"] = f"{server.base_path}/api/instances/{result.instance_ids[0]}"
    return result


@router.post("/{id}/bulk-dispatch", status_code=202)
async def bulk_dispatch_definition(
    id: str, server: Server, who: Who, request: Request, body: BulkDispatchRequest
) -> BulkDispatchResult:
    """Queue many starts of one definition, each with an optional idempotency key of its own. Each start is queued or refused on
    its own, unless the definition cannot be started at all."""
    await definitions.find(server, id)
    starter = Starter(server, StartContext(who, None, None, request.headers.get("traceparent")))
    results: list[DispatchResult] = []
    failed: list[DispatchFailure] = []
    for index, item in enumerate(body.requests):
        try:
            results.append(await starter.dispatch(id, item))
        except (HoldfastError, Refusal) as error:
            code = error.code if isinstance(error, Refusal) else answer_for(error).code
            failed.append(DispatchFailure(index=index, code=code, message=str(error)))
    return BulkDispatchResult(results=results, count=len(results), failed=failed)
