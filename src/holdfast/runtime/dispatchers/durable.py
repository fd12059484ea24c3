"""The dispatcher that is there by default: what it accepts is in the store before it answers, and is done by whoever comes first.

A start is one commit: the pending instance, its key, its place, and the row that begins it. So it can be read at once, and
nothing is half there after a crash. A stimulus that somebody waits for is delivered at once, by a node that would take up its own
row: the commit of who took it is its receipt. Everything else is a row of the work table. Matching before queueing is a courtesy
to who asks; whoever takes a row up looks again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from holdfast.errors import DefinitionError
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
from holdfast.runtime.commits.starts import Start, pending_job
from holdfast.runtime.commits.state_codec import encode_payload
from holdfast.runtime.dispatchers import idempotency, validation
from holdfast.runtime.stimuli.trigger_starts import started_id

if TYPE_CHECKING:
    from holdfast.runtime.facade import Runtime


class DurableDispatcher:
    """Implements `holdfast.ports.WorkflowDispatcher` on the work table."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    async def dispatch(self, request: DispatchRequest, *, wait: timedelta | None = None) -> DispatchResponse:
        seen = 0 if wait is None else await validation.version_of(self.runtime, request)
        match request:
            case DispatchDefinition():
                answer: DispatchResponse = await self._definition(request)
            case DispatchInstance():
                answer = await self._instance(request)
            case DispatchTrigger():
                answer = await self._trigger(request)
            case DispatchResume():
                answer = await self._resume(request)
            case DispatchStimulus():
                answer = await self._stimulus(request)
        return answer if wait is None else await validation.waited(self.runtime, answer, wait, seen)

    # -- starts --------------------------------------------------------------------------------------------------------

    async def _definition(self, request: DispatchDefinition) -> Dispatched:
        asked = await validation.start_of(self.runtime, request)
        guard = validation.key_for(request, "start", request.definition_id)
        return await self._put(request, asked, guard)

    async def _trigger(self, request: DispatchTrigger) -> Dispatched:
        started: list[str] = []
        existing: list[str] = []
        for row, asked in await validation.triggered(self.runtime, request):
            guard = validation.key_for(request, "trigger", f"{row.definition_id}/{row.id}")
            mine = asked if guard is None else replace(asked, instance_id=started_id(idempotency.id_of(guard), row))
            answer = await self._put(request, mine, guard)
            started += answer.instance_ids
            existing += answer.existing
        return Dispatched(instance_ids=tuple(started), existing=tuple(existing))

    async def _put(self, request: Request, asked: Start, guard: Guard | None) -> Dispatched:
        """The pending instance; or who holds the key, the place or the id."""
        runtime, node = self.runtime, self.runtime.node
        if guard is not None and (known := await validation.holder_of(runtime, guard)) is not None:
            return await self._held(*known)
        if (holder := await node.slot_holder(asked.plan, asked.correlation_id)) is not None:
            return await self._held(holder)
        now = node.clock.now()
        begins = work_rows.begin(
            node.tenant, asked.instance_id, asked.content, now, **await self._carried(request, now)
        )
        answer = await runtime.ask(pending_job(node, asked, begins, () if guard is None else (guard,)))
        if answer.existing is not None:
            return await self._held(answer.existing)
        node.uptake.take_own([begins], (WorkKind.BEGIN,))
        return Dispatched(instance_ids=(asked.instance_id,))

    async def _held(self, holder: str, deleted: bool = False) -> Dispatched:
        status = "deleted" if deleted else (await self.runtime.node.row(holder)).status
        return Dispatched(existing=(holder,), status=status, deleted=deleted)

    # -- going on ------------------------------------------------------------------------------------------------------

    async def _instance(self, request: DispatchInstance) -> Dispatched:
        runtime, node = self.runtime, self.runtime.node
        guard = validation.key_for(request, "dispatch", request.instance_id)
        if guard is not None and await idempotency.find(node, guard) is not None:
            return Dispatched(existing=(request.instance_id,), status=(await node.row(request.instance_id)).status)
        row = await validation.check_instance(runtime, request)
        now = node.clock.now()
        name = f"{request.instance_id}.r{node.next_id() if guard is None else idempotency.id_of(guard)}"
        plain = replace(request, input=dict(request.input))
        asked = work_rows.run(node.tenant, name, plain, row.content, now, **await self._carried(request, now))
        if not await self._accepted([asked], guard):
            return Dispatched(existing=(request.instance_id,), status=row.status)
        return Dispatched(instance_ids=(request.instance_id,), status=row.status)

    async def _resume(self, request: DispatchResume) -> Dispatched:
        node = self.runtime.node
        guard = validation.key_for(request, "resume", request.activity_type)
        if guard is not None and (known := await idempotency.find(node, guard)) is not None:
            return Dispatched(existing=known.instance_ids)
        marks = await validation.waiting(self.runtime, request)
        ids = tuple(dict.fromkeys(mark.instance_id for mark in marks))
        name = node.next_id() if guard is None else idempotency.id_of(guard)
        now = node.clock.now()
        data = encode_payload(request.payload if request.input is None else request.input)
        how = await self._carried(request, now)
        rows = [
            work_rows.resume(
                node.tenant, f"{name}>{mark.instance_id}.{mark.seq}", mark.instance_id, f"b{mark.seq}", data, now
            )
            for mark in marks
        ]
        if not await self._accepted([replace(row, **how) for row in rows], guard, ids):
            return Dispatched(existing=ids)
        return Dispatched(instance_ids=ids)

    async def _stimulus(self, request: DispatchStimulus) -> Receipt:
        node = self.runtime.node
        if request.event_name is None and request.key is not None:
            raise DefinitionError("Only events have keys. Put what it is matched by into the payload.")
        target = f"{request.type}/{request.event_name or ''}"
        guard = validation.key_for(request, "stimulus", target)
        name = node.next_id() if guard is None else idempotency.id_of(guard)
        found = await validation.stimulus_of(self.runtime, request, name)
        if self._is_for_here(request) and await node.post.at_once(found):
            return Receipt(stimulus_id=name)
        if guard is not None and request.delay is None:
            validation.check_shape(self.runtime, found)
        now = node.clock.now()
        row = work_rows.stimulus(node.tenant, found, now, **await self._carried(request, now))
        return Receipt(stimulus_id=name, existing=not await self._accepted([row], guard))

    # -- how it is carried ---------------------------------------------------------------------------------------------

    def _is_for_here(self, request: Request) -> bool:
        """Whether its row would be taken up by this node, at once."""
        if request.delay is not None or request.queue is not None or request.priority:
            return False
        return self.runtime.node.uptake.takes_own(queue_of(self.runtime.node.tenant))

    async def _carried(self, request: Request, now: datetime) -> dict[str, Any]:
        """Queue, priority and due time of a row."""
        node = self.runtime.node
        queue = queue_of(node.tenant, request.queue or DEFAULT_QUEUE)
        due = None if request.delay is None else await node.store.now() + request.delay
        return {"queue": queue, "priority": request.priority, "due": due}

    async def _accepted(self, rows: list[WorkRow], guard: Guard | None, ids: tuple[str, ...] = ()) -> bool:
        """On the table; False if the same request was accepted before."""
        if guard is None:
            await self._enqueue(rows)
            return True
        if not await idempotency.put(self.runtime.node, guard, rows, ids):
            return False
        self.runtime.node.uptake.take_own(rows)
        return True

    async def _enqueue(self, rows: list[WorkRow]) -> None:
        node = self.runtime.node
        if rows:
            added = await node.store.enqueue(rows)
            node.uptake.take_own(row for row, fresh in zip(rows, added, strict=True) if fresh)
