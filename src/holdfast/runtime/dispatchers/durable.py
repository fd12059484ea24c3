"""The default dispatcher: it stores a request before it answers; a node that claims the work row executes it.

A start is one commit: the pending instance, its idempotency key, its slot, and the work row that begins it. So the instance can
be read at once, and a crash leaves no partial start. An addressed stimulus is delivered at once if this node would take its row:
the receiver's commit is the receipt. Every other request becomes a work row. Matching before queueing only gives the caller an
early error; the node that claims the row matches again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from holdfast.errors import DefinitionError, InstanceEnded, InstanceNotFound, PayloadRefused
from holdfast.model.guard import Guard
from holdfast.model.requests import (
    DispatchDefinition,
    Dispatched,
    DispatchInstance,
    DispatchRequest,
    DispatchResponse,
    DispatchResume,
    DispatchStimulus,
    DispatchTrigger,
    Receipt,
    Request,
)
from holdfast.model.work import DEFAULT_QUEUE, WorkKind, WorkRow, queue_of
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.jobs.start import PendingJob, Start
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.dispatchers import idempotency, validation
from holdfast.runtime.dispatchers.host import DispatchHost
from holdfast.runtime.payload_codec import encode_payload
from holdfast.runtime.stimuli.trigger_starts import started_id


class DurableDispatcher:
    """Implements `holdfast.ports.WorkflowDispatcher` on the work table."""

    def __init__(self, host: DispatchHost) -> None:
        self._host = host

    async def dispatch(self, request: DispatchRequest, *, wait: timedelta | None = None) -> DispatchResponse:
        request = validation.with_endpoint_key(request)
        seen = 0 if wait is None else await validation.version_of(self._host, request)
        match request:
            case DispatchDefinition():
                answer: DispatchResponse = await self._definition(request)
            case DispatchInstance():
                answer = await self._instance(request)
            case DispatchTrigger() if request.instance_id is not None:
                answer = await self._resume(validation.resume_of(request))
            case DispatchTrigger():
                answer = await self._trigger(request)
            case DispatchResume():
                answer = await self._resume(request)
            case DispatchStimulus():
                answer = await self._stimulus(request)
        return answer if wait is None else await validation.waited(self._host, answer, wait, seen)

    # -- starts --------------------------------------------------------------------------------------------------------

    async def _definition(self, request: DispatchDefinition) -> Dispatched:
        asked = await validation.start_of(self._host, request)
        guard = validation.key_for(request, "start", request.definition_id)
        return await self._put(request, asked, guard)

    async def _trigger(self, request: DispatchTrigger) -> Dispatched:
        started: list[str] = []
        existing: list[str] = []
        for row, start in await validation.triggered(self._host, request):
            guard = validation.key_for(request, "trigger", f"{row.definition_id}/{row.id}")
            key = start.key if guard is None else self._host.key(started_id(idempotency.id_of(guard), row))
            answer = await self._put(request, replace(start, key=key), guard)
            started += answer.instance_ids
            existing += answer.existing
        return Dispatched(instance_ids=tuple(started), existing=tuple(existing))

    async def _put(self, request: Request, start: Start, guard: Guard | None) -> Dispatched:
        """Create the pending instance; or name the instance that holds the key, the slot or the id."""
        host, instance_id = self._host, start.key.id
        if guard is not None and (known := await validation.holder_of(host, guard)) is not None:
            return await self._held(*known)
        if (holder := await host.slot_holder(start.plan, start.correlation_id)) is not None:
            return await self._held(holder)
        now = host.clock.now()
        begins = work_rows.begin(host.tenant, instance_id, start.content, now, **await self._row_fields(request, now))
        answer = await host.ask(PendingJob(start, begins, () if guard is None else (guard,)))
        if answer.existing is not None:
            return await self._held(answer.existing)
        host.take_own([begins], (WorkKind.BEGIN,))
        return Dispatched(instance_ids=(instance_id,))

    async def _held(self, holder: str, deleted: bool = False) -> Dispatched:
        status = "deleted" if deleted else (await self._host.row(holder)).status
        return Dispatched(existing=(holder,), status=status, deleted=deleted)

    # -- existing instances --------------------------------------------------------------------------------------------

    async def _instance(self, request: DispatchInstance) -> Dispatched:
        host = self._host
        guard = validation.key_for(request, "dispatch", request.instance_id)
        if guard is not None and await idempotency.find(host.store, host.tenant, guard) is not None:
            return Dispatched(existing=(request.instance_id,), status=(await host.row(request.instance_id)).status)
        row = await validation.check_instance(host, request)
        now = host.clock.now()
        name = f"{request.instance_id}.r{host.new_id() if guard is None else idempotency.id_of(guard)}"
        plain = replace(request, input=dict(request.input))
        work = work_rows.run(host.tenant, name, plain, row.content, now, **await self._row_fields(request, now))
        if not await self._accepted([work], guard):
            return Dispatched(existing=(request.instance_id,), status=row.status)
        return Dispatched(instance_ids=(request.instance_id,), status=row.status)

    async def _resume(self, request: DispatchResume) -> Dispatched:
        host = self._host
        guard = validation.key_for(request, "resume", request.activity_type)
        if guard is not None and (known := await idempotency.find(host.store, host.tenant, guard)) is not None:
            return Dispatched(existing=known.instance_ids)
        marks = await validation.waiting(host, request)
        ids = tuple(dict.fromkeys(mark.instance_id for mark in marks))
        name = host.new_id() if guard is None else idempotency.id_of(guard)
        now = host.clock.now()
        data = encode_payload(request.payload if request.input is None else request.input)
        how = await self._row_fields(request, now)
        rows = [
            work_rows.resume(
                host.tenant, f"{name}>{mark.instance_id}.{mark.seq}", mark.instance_id, f"b{mark.seq}", data, now
            )
            for mark in marks
        ]
        if not await self._accepted([replace(row, **how) for row in rows], guard, ids):
            return Dispatched(existing=ids)
        return Dispatched(instance_ids=ids)

    async def _stimulus(self, request: DispatchStimulus) -> Receipt:
        host = self._host
        if request.event_name is None and request.key is not None:
            raise DefinitionError("Only events have keys. Put the values to match into the payload.")
        target = f"{request.type}/{request.event_name or ''}"
        guard = validation.key_for(request, "stimulus", target)
        name = host.new_id() if guard is None else idempotency.id_of(guard)
        try:
            found = validation.stimulus_of(request, name)
            if not found.is_broadcast and not await host.router.starts(host.tenant, found):
                return await self._addressed(request, found, guard)
            if found.instance_id is not None:
                await validation.check_receiver(host, found.instance_id)
        except (InstanceEnded, InstanceNotFound, PayloadRefused):
            if guard is not None and await idempotency.find(host.store, host.tenant, guard) is not None:
                return Receipt(stimulus_id=name, existing=True)  # Accepted before the instance went on (rule M4).
            raise
        now = host.clock.now()
        row = work_rows.stimulus(host.tenant, found, now, **await self._row_fields(request, now))
        return Receipt(stimulus_id=name, existing=not await self._accepted([row], guard))

    async def _addressed(self, request: DispatchStimulus, found: Stimulus, guard: Guard | None) -> Receipt:
        """Deliver an event at once, or keep it behind the older events of its address (rule H16)."""
        host = self._host
        here = self._is_taken_here(request)
        if here and guard is None and await host.router.deliver_at_once(host.tenant, found):
            return Receipt(stimulus_id=found.id)
        if found.instance_id is not None:
            await validation.check_receiver(host, found.instance_id)
        if guard is not None and request.delay is None:
            validation.check_shape(host, found)
        now = host.clock.now()
        fields = await self._row_fields(request, now)
        inbox, work = host.router.kept_rows(host.tenant, found, fields["due"], None if here else fields)
        if guard is None:
            await host.store.put_inbox(inbox, work)
        elif not await idempotency.put(host.store, host.tenant, now, guard, work, inbox=inbox):
            return Receipt(stimulus_id=found.id, existing=True)
        host.router.kept(host.tenant, found, look=here)
        return Receipt(stimulus_id=found.id)

    # -- work rows -----------------------------------------------------------------------------------------------------

    def _is_taken_here(self, request: Request) -> bool:
        """Whether this node would take the work row of the request at once."""
        if request.delay is not None or request.queue is not None or request.priority:
            return False
        return self._host.takes_own

    async def _row_fields(self, request: Request, now: datetime) -> dict[str, Any]:
        """Queue, priority and due time of a row."""
        host = self._host
        queue = queue_of(host.tenant, request.queue or DEFAULT_QUEUE)
        due = None if request.delay is None else await host.store.now() + request.delay
        return {"queue": queue, "priority": request.priority, "due": due}

    async def _accepted(self, rows: list[WorkRow], guard: Guard | None, ids: tuple[str, ...] = ()) -> bool:
        """Add the work rows; False if the same request was accepted before."""
        host = self._host
        if guard is None:
            await self._enqueue(rows)
            return True
        if not await idempotency.put(host.store, host.tenant, host.clock.now(), guard, rows, ids):
            return False
        host.take_own(rows)
        return True

    async def _enqueue(self, rows: list[WorkRow]) -> None:
        if rows:
            added = await self._host.store.enqueue(rows)
            self._host.take_own(row for row, fresh in zip(rows, added, strict=True) if fresh)
