"""Validation of requests, shared by the dispatchers: a caller gets an error at once instead of a failure later."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, TypeVar

from msgspec.structs import replace

from holdfast.errors import (
    BookmarkNotFound,
    DefinitionError,
    InstanceEnded,
    InstanceNotFound,
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
    Request,
)
from holdfast.model.routes import endpoint_key, named_endpoint
from holdfast.model.stored import ENDED, BookmarkQuery, BookmarkRow, InstanceRow, correlation_key
from holdfast.model.wake_keys import key_of
from holdfast.model.work import DEFAULT_QUEUE
from holdfast.runtime.commits.jobs.dispatch import bookmark_of, checked, payload_of
from holdfast.runtime.commits.jobs.start import Start
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.dispatchers.host import DispatchHost

PAGE = 1_000
"""Bookmarks per query."""
AnyRequest = TypeVar("AnyRequest", bound=DispatchRequest)


# -- starts ------------------------------------------------------------------------------------------------------------


async def start_of(host: DispatchHost, request: DispatchDefinition) -> Start:
    """Raises `DefinitionNotFound`, `DefinitionNotPublished`, `InvalidInput` or `InvalidId`."""
    plan, content = await host.current_plan(request.definition_id, request.version)
    trigger = request.trigger_activity_id
    if trigger is not None and plan.node(trigger) is None:
        raise DefinitionError(
            f"'{request.definition_id}' has no activity '{trigger}' to start at. Name a trigger by its id."
        )
    given = request.instance_id
    asked = Start(
        key=host.key(host.new_id() if given is None else checked_id(given, "instance id")),
        plan=plan,
        content=content,
        inputs=request.input,
        correlation_id=request.correlation_id,
        name=request.name,
        parent_id=request.parent_id,
        trigger=trigger,
        trigger_payload=request.trigger_payload,
        principal=request.principal,
        trace=request.trace,
        properties=request.properties,
        home=home_of(request),
    )
    return replace(asked, complete=asked.checked_inputs())


async def triggered(host: DispatchHost, request: DispatchTrigger) -> list[tuple[TriggerRow, Start]]:
    """Every published workflow that the request starts."""
    rows = await host.find_triggers(request.activity_type, request.payload)
    found = [(row, await _triggered(host, request, row)) for row in rows]
    for _, asked in found:
        asked.checked_inputs()  # All definitions, before the first start.
    return found


def with_endpoint_key(request: AnyRequest) -> AnyRequest:
    """The same request with the key that HTTP endpoints are matched by, if its payload is `{"path", "method"}`.

    Without an input, the endpoint receives the path and the method.
    """
    if isinstance(request, DispatchDefinition | DispatchInstance):
        return request
    type_name = request.type if isinstance(request, DispatchStimulus) else request.activity_type
    found = named_endpoint(type_name, request.payload)
    if found is None:
        return request
    route, method = found
    data = {"path": route.template, "method": method} if request.input is None else request.input
    return replace(request, payload=endpoint_key(route, method), input=data)


def resume_of(request: DispatchTrigger) -> DispatchResume:
    """The same request for one instance: it is resumed, and nothing is started."""
    return DispatchResume(**{name: getattr(request, name) for name in DispatchTrigger.__struct_fields__})


async def _triggered(host: DispatchHost, request: DispatchTrigger, row: TriggerRow) -> Start:
    data = request.payload if request.input is None else request.input
    return Start(
        key=host.key(host.new_id()),
        plan=await host.plans.plan(row.content),
        content=row.content,
        inputs=data if isinstance(data, Mapping) else {},
        lenient=True,
        correlation_id=request.correlation_id,
        trigger=row.activity_id,
        trigger_payload=data,
        principal=request.principal,
        trace=request.trace,
        home=home_of(request),
    )


def home_of(request: Request) -> str | None:
    """The queue that the started instance stays on."""
    return None if request.queue == DEFAULT_QUEUE else request.queue


# -- existing instances ------------------------------------------------------------------------------------------------


async def check_instance(host: DispatchHost, request: DispatchInstance) -> InstanceRow:
    """Raises `InstanceNotFound`, `InstanceEnded`, `BookmarkNotFound`, `InvalidInput` or `PayloadRefused`."""
    row = await living(host, request.instance_id)
    live = (await host.read(request.instance_id))._live
    found = bookmark_of(live, request)
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
    """No bookmark is resumed, so input that the definition does not declare has no receiver. Raises `InvalidInput`."""
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


async def living(host: DispatchHost, instance_id: str) -> InstanceRow:
    """The row of an instance that has not ended, or has faulted. Raises `InstanceEnded`."""
    row = await host.row(instance_id)
    if row.status in ENDED and row.status != Status.FAULTED:
        raise InstanceEnded(instance_id, row.status)
    host.keep_read(row)  # The next job need not load it again.
    return row


async def waiting(host: DispatchHost, request: DispatchResume) -> list[BookmarkRow]:
    """Every bookmark that the request resumes now."""
    key = key_of(request.activity_type, request.payload)
    correlation = correlation_key(request.correlation_id)
    if request.instance_id is not None:
        await living(host, request.instance_id)
        marks = await host.store.bookmarks_of(host.tenant, request.instance_id)
        return [mark for mark in marks if mark.key == key and correlation in (0, mark.correlation)]
    found: list[BookmarkRow] = []
    after = ("", 0)
    while True:
        query = BookmarkQuery(
            tenant=host.tenant, key=key, correlation=correlation, limit=PAGE, oldest=False, after=after
        )
        page = (await host.store.find_bookmarks([query])).bookmarks[0]
        for mark in page:
            if mark.type == request.activity_type:
                host.matcher.forget_older(mark)
                found.append(mark)
        if len(page) < PAGE:
            return found
        after = (page[-1].instance_id, page[-1].seq)


async def check_receiver(host: DispatchHost, instance_id: str) -> None:
    """Raises `InstanceNotFound` or `InstanceEnded` if the instance receives no stimulus any more. An instance whose start is
    committed, but which no node has started yet, receives it later."""
    try:
        await living(host, instance_id)
    except InstanceNotFound:
        if await host.start_row(instance_id) is None:
            await living(host, instance_id)  # Once more: it may have been started between the two looks.


def stimulus_of(request: DispatchStimulus, stimulus_id: str) -> Stimulus:
    """The stimulus of a request."""
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


def check_shape(host: DispatchHost, found: Stimulus) -> None:
    """Raises `PayloadRefused` if the addressed instance waits for another shape.

    Only the cached row is inspected; the node that takes the work row checks the stored one.
    """
    mark = host.matcher.cached(host.tenant, found)
    row = None if mark is None else host.cached_row(mark.instance_id)
    plan = None if row is None else host.plans.at_hand(row.content)
    if mark is not None and row is not None and plan is not None:
        live = host.reader.decode(row, plan, {})
        if live.status.at_rest:
            return
        delivery.receive(live, f"b{mark.seq}", values.decode(found.input, plan.types))


# -- keys --------------------------------------------------------------------------------------------------------------

_NOT_THE_BODY = ("priority", "queue", "delay", "trace", "idempotency_key")


def fingerprint(request: DispatchRequest) -> str:
    """A hash of the requested work, without its queue, priority and delay."""
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


async def holder_of(host: DispatchHost, guard: Guard) -> tuple[str, bool] | None:
    """The instance that holds the key of the same request, and whether it was deleted. Raises `KeyReused` if the request was
    another one."""
    row = await host.store.find_guard(host.tenant, guard.ref)
    if row is None:
        return None
    if row.fingerprint != guard.fingerprint:
        raise KeyReused(guard.name, row.instance_id)
    return row.instance_id, row.released is not None


# -- waiting for the burst ---------------------------------------------------------------------------------------------


async def version_of(host: DispatchHost, request: DispatchRequest) -> int:
    """The version of the instance before the request: a caller that waits wants a later one."""
    if isinstance(request, DispatchInstance | DispatchResume) and request.instance_id is not None:
        return (await host.row(request.instance_id)).version
    return 0


async def waited(host: DispatchHost, answer: DispatchResponse, wait: timedelta, seen: int) -> DispatchResponse:
    """The answer with the status after the burst of the first instance, or at the limit."""
    if not isinstance(answer, Dispatched) or answer.instance_id is None:
        return answer
    status = await host.wait_burst(answer.instance_id, wait, above=seen if answer.started else 0)
    return replace(answer, status=status)
