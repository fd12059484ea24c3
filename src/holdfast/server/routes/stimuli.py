"""`/api/events` and `/api/stimuli`: events and other stimuli that resume and start instances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from fastapi import Header
from starlette.requests import Request

from holdfast.errors import TaskNotResumable
from holdfast.model.principal import ADMIN, Principal
from holdfast.model.requests import EVENT, DispatchStimulus, Receipt as Given
from holdfast.model.routes import ENDPOINT
from holdfast.model.tasks import HUMAN_TASK
from holdfast.model.values import shown
from holdfast.server.backend import Backend, Server
from holdfast.server.documented_answers import answers
from holdfast.server.pagination import Limit
from holdfast.server.routing import Routes
from holdfast.server.schemas.base import Done
from holdfast.server.schemas.operations import (
    EventRequest,
    ExpiredStimulusItem,
    ExplainRequest,
    Explanation,
    IdsRequest,
    Receipt,
    StimulusRequest,
)
from holdfast.server.security import admitted, requires

router = Routes(tags=["events"], responses=answers(404))

GUARDED = {HUMAN_TASK, ENDPOINT}
"""Types of bookmarks and triggers with routes and permissions of their own."""

Sender = Annotated[Principal, requires("events:send")]
IdempotencyKey = Annotated[
    str | None, Header(min_length=1, max_length=200, description="Requests with the same key take effect once.")
]


@router.post("/events/{name}", status_code=202)
async def publish_event(
    name: str,
    server: Server,
    who: Sender,
    request: Request,
    body: EventRequest | None = None,
    idempotency_key: IdempotencyKey = None,
) -> Receipt:
    """Publish an event: resumes instances that wait for it, and starts workflows triggered by it."""
    stimulus = stimulus_of(body or EventRequest(), EVENT, who, request.headers, idempotency_key, name)
    return await sent(server, stimulus)


@router.post("/stimuli", status_code=202)
async def send_stimulus(
    server: Server, who: Sender, request: Request, body: StimulusRequest, idempotency_key: IdempotencyKey = None
) -> Receipt:
    """Resume bookmarks and start triggers of any type. HTTP endpoints have permissions of their own: bypassing them requires
    `instances:write`. Only an admin may send the answer of a human task this way."""
    if body.type in GUARDED:
        admitted(who, "instances:write")
    if body.type == HUMAN_TASK and ADMIN not in who.roles:
        raise TaskNotResumable(str(body.payload.get("task_id", "")) if isinstance(body.payload, dict) else "")
    return await sent(server, stimulus_of(body, body.type, who, request.headers, idempotency_key, None))


@router.get("/stimuli/expired", dependencies=[requires("operations:read")])
async def list_expired_stimuli(server: Server, limit: Limit = 50) -> list[ExpiredStimulusItem]:
    """Stimuli that expired without a match in the last week, latest first."""
    found = await server.runtime.stimuli.expired(limit)
    return [
        ExpiredStimulusItem.model_validate({**msgspec.structs.asdict(item), "key": shown(item.key)}) for item in found
    ]


@router.post("/stimuli/expired/replay")
async def replay_expired_stimuli(
    server: Server, who: Annotated[Principal, requires("operations:write")], body: IdsRequest
) -> Done:
    """Match expired stimuli again, as if they had just been sent."""
    sent = await server.runtime.stimuli.replay_expired(body.ids)
    return Done(count=len(sent), missing=[name for name in body.ids if name not in sent])


@router.post("/stimuli/explain", dependencies=[requires("instances:read")])
async def explain_stimulus(server: Server, body: ExplainRequest) -> Explanation:
    """Matches of a stimulus, and the differing fields of near matches; nothing is sent."""
    from holdfast.management.doctor.stimulus import diagnose

    found = await diagnose(
        server.runtime,
        body.type,
        body.payload,
        name=body.name,
        key=body.key,
        correlation_id=body.correlation_id,
        instance_id=body.instance_id,
    )
    told = found.explanation
    near: list[Any] = [msgspec.to_builtins(item, enc_hook=shown) for item in found.near]
    return Explanation(
        key=found.key,
        broadcast=told.broadcast,
        starts=list(told.starts),
        resumes=list(told.resumes),
        kept=told.kept,
        near=near,
        advice=found.advice,
    )


def stimulus_of(
    body: EventRequest, type: str, who: Principal, headers: Mapping[str, str], key: str | None, name: str | None
) -> DispatchStimulus:
    return DispatchStimulus(
        type=type,
        payload=body.payload,
        event_name=name,
        correlation_id=body.correlation_id or headers.get("x-correlation-id"),
        instance_id=body.instance_id or headers.get("x-workflow-instance-id"),
        key=body.key,
        broadcast=body.broadcast,
        idempotency_key=key,
        principal=who.name,
        trace=headers.get("traceparent"),
    )


async def sent(server: Backend, stimulus: DispatchStimulus) -> Receipt:
    answer = await server.runtime.dispatcher.dispatch(stimulus)
    assert isinstance(answer, Given)
    return Receipt(stimulus_id=answer.stimulus_id, existing=answer.existing)
