"""What every dispatcher of ours asks before it accepts a request: refused at once is better than failed later."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from holdfast.errors import (
    BookmarkNotFound,
    DefinitionError,
    InstanceEnded,
    InvalidInput,
    KeyReused,
)
from holdfast.execution import delivery
from holdfast.execution.live import LiveInstance
from holdfast.model import values
from holdfast.model.catalog import TriggerRow
from holdfast.model.guard import Guard, idempotency_key
from holdfast.model.hashing import stimulus_hash
from holdfast.model.ids import checked_id
from holdfast.model.instance import Status
from holdfast.model.problem import Problem
from holdfast.model.requests import (
    EVENT,
    DispatchDefinition,
    Dispatched,
    DispatchInstance,
    DispatchRequest,
    DispatchResponse,
    DispatchResume,
    DispatchStimulus,
    DispatchTrigger,
)
from holdfast.model.stored import ENDED, BookmarkQuery, BookmarkRow, InstanceRow, correlation_key
from holdfast.runtime.commits.jobs.dispatch import checked, payload_of, wanted
from holdfast.runtime.commits.starts import Start
from holdfast.runtime.commits.state_codec import decode_state
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli import matching

if TYPE_CHECKING:
    from holdfast.runtime.facade import Runtime

PAGE = 1_000


# -- starts ------------------------------------------------------------------------------------------------------------


async def start_of(runtime: Runtime, request: DispatchDefinition) -> Start:
    """Raises `DefinitionNotFound`, `DefinitionNotPublished`, `InvalidInput` or `InvalidId`."""
    plan, content = await runtime.current_plan(request.definition_id, request.version)
    trigger = request.trigger_activity_id
    if trigger is not None and plan.node(trigger) is None:
        raise DefinitionError(
            f"'{request.definition_id}' has no activity '{trigger}' to start at. Name a trigger by its id."
        )
    given = request.instance_id
    asked = Start(
        plan=plan,
        content=content,
        instance_id=runtime.node.next_id() if given is None else checked_id(given, "instance id"),
        inputs=request.input,
        correlation_id=request.correlation_id,
        name=request.name,
        parent_id=request.parent_id,
        trigger=trigger,
        trigger_payload=request.trigger_payload,
        principal=request.principal,
        trace=request.trace,
        properties=request.properties,
    )
    return replace(asked, complete=asked.checked())


async def triggered(runtime: Runtime, request: DispatchTrigger) -> list[tuple[TriggerRow, Start]]:
    """Every published workflow that the request starts."""
    rows = await runtime.triggers.find(request.activity_type, request.payload)
    if request.instance_id is not None and len(rows) > 1:
        raise DefinitionError(
            f"{len(rows)} triggers match, so their instances cannot all be '{request.instance_id}'. Leave the id out."
        )
    found = [(row, await _triggered(runtime, request, row)) for row in rows]
    for _, asked in found:
        asked.checked()  # All of them, before one is started.
    return found


async def _triggered(runtime: Runtime, request: DispatchTrigger, row: TriggerRow) -> Start:
    data = request.payload if request.input is None else request.input
    return Start(
        plan=await runtime.node.pins.plan(row.content),
        content=row.content,
        instance_id=request.instance_id or runtime.node.next_id(),
        inputs=data if isinstance(data, Mapping) else {},
        lenient=True,
        correlation_id=request.correlation_id,
        trigger=row.activity_id,
        trigger_payload=data,
        principal=request.principal,
        trace=request.trace,
    )


# -- going on ----------------------------------------------------------------------------------------------------------


async def check_instance(runtime: Runtime, request: DispatchInstance) -> InstanceRow:
    """Raises `InstanceNotFound`, `InstanceEnded`, `BookmarkNotFound`, `InvalidInput` or `PayloadRefused`."""
    row = await living(runtime, request.instance_id)
    live = (await runtime.read(request.instance_id))._live
    found = wanted(live, request)
    checked(live.plan.definition, request.input, live.plan.types)
    if found is None:
        _refuse_unknown(live, request)
    else:
        delivery.receive(live, found.id, payload_of(request))
    if (
        live.status is Status.FAULTED
        and request.activity_id is not None
        and live.plan.node(request.activity_id) is None
    ):
        raise BookmarkNotFound(request.activity_id, instance_id=live.id)
    return row


def _refuse_unknown(live: LiveInstance, request: DispatchInstance) -> None:
    """Nobody is resumed who could take what the definition does not declare."""
    definition = live.plan.definition
    declared = [item.name for item in definition.inputs]
    unknown = [name for name in request.input if name not in declared]
    if unknown:
        listed = ", ".join(declared) or "none"
        problems = [
            Problem(
                path=f"/{name}",
                code="unknown-input",
                message=f"There is no input '{name}'.",
                remedy=f"It has: {listed}.",
            )
            for name in unknown
        ]
        raise InvalidInput(problems, name=definition.title)


async def living(runtime: Runtime, instance_id: str) -> InstanceRow:
    row = await runtime.node.row(instance_id)
    if row.status in ENDED and row.status != Status.FAULTED:
        raise InstanceEnded(instance_id, row.status)
    runtime.node.saw(row)  # Whoever takes it up right after this need not read it again.
    return row


async def waiting(runtime: Runtime, request: DispatchResume) -> list[BookmarkRow]:
    """Every bookmark that the request resumes now."""
    node = runtime.node
    key = matching.key_of(request.activity_type, request.payload)
    correlation = correlation_key(request.correlation_id)
    if request.instance_id is not None:
        await living(runtime, request.instance_id)
        marks = await node.store.bookmarks_of(node.tenant, request.instance_id)
        return [mark for mark in marks if mark.key == key and correlation in (0, mark.correlation)]
    found: list[BookmarkRow] = []
    after = ("", 0)
    while True:
        query = BookmarkQuery(
            tenant=node.tenant, key=key, correlation=correlation, limit=PAGE, oldest=False, after=after
        )
        page = (await node.store.find_bookmarks([query])).bookmarks[0]
        for mark in page:
            if mark.type == request.activity_type:
                matching.forget_older(node, mark)
                found.append(mark)
        if len(page) < PAGE:
            return found
        after = (page[-1].instance_id, page[-1].seq)


async def stimulus_of(runtime: Runtime, request: DispatchStimulus, stimulus_id: str) -> Stimulus:
    """Raises `InstanceNotFound` or `InstanceEnded` if it is addressed to an instance."""
    if request.instance_id is not None:
        await living(runtime, request.instance_id)
    is_event = request.event_name is not None
    data = request.payload if request.input is None else request.input
    return Stimulus(
        id=stimulus_id,
        type=EVENT if is_event else request.type,
        event_name=request.event_name,
        payload=None if is_event else values.encode(request.payload),
        input=values.encode(data),
        correlation_id=request.correlation_id,
        instance_id=request.instance_id,
        key=None if request.key is None else values.encode(request.key),
        broadcast=request.broadcast,
        guarded=request.idempotency_key is not None,
        principal=request.principal,
        trace=request.trace,
    )


def check_shape(runtime: Runtime, found: Stimulus) -> None:
    """Raises `PayloadRefused` if the instance that it is addressed to waits for another shape, as far as that was just read:
    a row is judged by whoever takes it up."""
    node = runtime.node
    mark = None if found.instance_id is None else matching.at_hand(node, found)
    row = None if mark is None else node.hot.get(mark.instance_id)
    plan = None if row is None else node.pins.at_hand(row.content)
    if mark is not None and row is not None and plan is not None:
        live = decode_state(row.state, plan, node.clock.now_ns, node.services, {})
        if live.status.at_rest:
            return
        delivery.receive(live, f"b{mark.seq}", values.decode(found.input, plan.types))


# -- keys --------------------------------------------------------------------------------------------------------------

_NOT_THE_BODY = ("priority", "queue", "delay", "trace", "idempotency_key")


def fingerprint(request: DispatchRequest) -> str:
    """Of what is asked for; how and when it is carried is no part of it."""
    body = {name: getattr(request, name) for name in request.__struct_fields__ if name not in _NOT_THE_BODY}
    return stimulus_hash({name: _plain(value) for name, value in body.items()})


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def key_for(request: DispatchRequest, operation: str, target: str) -> Guard | None:
    if request.idempotency_key is None:
        return None
    return idempotency_key(
        operation=operation, target=target, key=request.idempotency_key, fingerprint=fingerprint(request)
    )


async def holder_of(runtime: Runtime, guard: Guard) -> tuple[str, bool] | None:
    """Who holds a key of the same request, and whether it was deleted; `KeyReused` if the request was another one."""
    row = await runtime.node.store.find_guard(runtime.node.tenant, guard.ref)
    if row is None:
        return None
    if row.fingerprint != guard.fingerprint:
        raise KeyReused(guard.name, row.instance_id)
    return row.instance_id, row.released is not None


# -- waiting for the burst ---------------------------------------------------------------------------------------------


async def version_of(runtime: Runtime, request: DispatchRequest) -> int:
    """Where an instance is before it goes on: who waits wants to hear of what comes after."""
    if isinstance(request, DispatchInstance | DispatchResume) and request.instance_id is not None:
        return (await runtime.node.row(request.instance_id)).version
    return 0


async def waited(runtime: Runtime, answer: DispatchResponse, wait: timedelta, seen: int) -> DispatchResponse:
    """The answer as it is when the first instance has been through its burst, or when the time is over."""
    if not isinstance(answer, Dispatched) or answer.instance_id is None:
        return answer
    status = await runtime.wait_burst(answer.instance_id, wait, above=seen if answer.started else 0)
    return replace(answer, status=status)
