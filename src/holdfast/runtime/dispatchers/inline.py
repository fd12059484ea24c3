"""The dispatcher that does everything at once, here: it answers after the burst's commit. For tests, and for those who carry
requests themselves and have them done where they arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.errors import BookmarkNotFound, InstanceAtRest
from holdfast.model.guard import Guard
from holdfast.model.instance import Status
from holdfast.model.requests import (
    DispatchDefinition,
    Dispatched,
    DispatchInstance,
    DispatchRequest,
    DispatchResponse,
    DispatchResume,
    DispatchStimulus,
    DispatchTrigger,
)
from holdfast.model.stored import BookmarkRow
from holdfast.runtime.commits.jobs.base import Answer, ResumeJob
from holdfast.runtime.commits.jobs.dispatch import RunJob
from holdfast.runtime.commits.starts import Start, start_job
from holdfast.runtime.dispatchers import idempotency, validation
from holdfast.runtime.stimuli.trigger_starts import started_id

if TYPE_CHECKING:
    from holdfast.runtime.facade import Runtime

PENDING = Status.PENDING


class InlineDispatcher:
    """Implements `holdfast.ports.WorkflowDispatcher` without a queue. `delay`, `priority` and `queue` mean nothing here."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    async def dispatch(self, request: DispatchRequest, *, wait: timedelta | None = None) -> DispatchResponse:
        match request:
            case DispatchResume():
                return await self._resume(request)
            case DispatchDefinition():
                return (await self.begin(request))[0]
            case DispatchInstance():
                return await self._instance(request)
            case DispatchTrigger():
                return await self._trigger(request)
            case DispatchStimulus():
                # It is matched by whoever takes its row up: that is this node, at once.
                return await self.runtime.durable.dispatch(replace(request, delay=None))

    async def begin(self, request: DispatchDefinition) -> tuple[Dispatched, Answer | None]:
        """A start, with what its first burst gave, for those who want to show it without another look."""
        asked = await validation.start_of(self.runtime, request)
        return await self._begin(asked, validation.key_for(request, "start", request.definition_id))

    async def _start(self, asked: Start, guard: Guard | None) -> Dispatched:
        return (await self._begin(asked, guard))[0]

    async def _begin(self, asked: Start, guard: Guard | None) -> tuple[Dispatched, Answer | None]:
        runtime, node = self.runtime, self.runtime.node
        if guard is not None and (known := await validation.holder_of(runtime, guard)) is not None:
            return Dispatched(existing=(known[0],), deleted=known[1]), None
        if (holder := await node.slot_holder(asked.plan, asked.correlation_id)) is not None:
            return Dispatched(existing=(holder,)), None
        answer = await runtime.ask(start_job(node, asked, guards=() if guard is None else (guard,)))
        if answer.result is None:
            return Dispatched(existing=() if answer.existing is None else (answer.existing,)), None
        return Dispatched(instance_ids=(asked.instance_id,), status=answer.result.status), answer

    async def _trigger(self, request: DispatchTrigger) -> Dispatched:
        answers = []
        for row, asked in await validation.triggered(self.runtime, request):
            guard = validation.key_for(request, "trigger", f"{row.definition_id}/{row.id}")
            mine = asked if guard is None else replace(asked, instance_id=started_id(idempotency.id_of(guard), row))
            answers.append(await self._start(mine, guard))
        return Dispatched(
            instance_ids=tuple(name for answer in answers for name in answer.instance_ids),
            existing=tuple(name for answer in answers for name in answer.existing),
            status=answers[0].status if answers else Status.PENDING,
        )

    async def _instance(self, request: DispatchInstance) -> Dispatched:
        runtime, known = self.runtime, Dispatched(existing=(request.instance_id,))
        guard = validation.key_for(request, "dispatch", request.instance_id)
        if guard is not None and await self._was_done(guard):
            return known
        await validation.check_instance(runtime, request)
        answer = await runtime.ask(RunJob(request, guards=() if guard is None else (guard,)))
        if guard is not None and not await idempotency.put(runtime.node, guard):
            return known
        result = answer.result or await runtime.read(request.instance_id)
        return Dispatched(instance_ids=(request.instance_id,), status=result.status)

    async def _was_done(self, guard: Guard) -> bool:
        if await idempotency.find(self.runtime.node, guard) is not None:
            return True
        return await validation.holder_of(self.runtime, guard) is not None

    async def _resume(self, request: DispatchResume) -> Dispatched:
        if request.idempotency_key is not None:
            # Its key is kept with the rows that it asks for, all or none; they are taken up by this node, at once.
            queued = await self.runtime.durable.dispatch(replace(request, delay=None))
            assert isinstance(queued, Dispatched)
            return queued
        resumed: list[str] = []
        status: str = PENDING
        failed: Exception | None = None
        for answering in self._resumed(await validation.waiting(self.runtime, request), request):
            # All are under way. Waiting for one after the other takes no longer, and to gather one costs more than to wait.
            try:
                instance_id, answer = answering[0], await answering[1]
            except (BookmarkNotFound, InstanceAtRest):
                continue  # It was true when it was matched, and is so no more.
            except Exception as error:  # noqa: BLE001 - it is raised when all have answered
                failed = failed or error
                continue
            if not resumed and answer.result is not None:
                status = answer.result.status
            resumed.append(instance_id)
        if failed is not None:
            raise failed
        return Dispatched(instance_ids=tuple(dict.fromkeys(resumed)), status=status)

    def _resumed(
        self, marks: Iterable[BookmarkRow], request: DispatchResume
    ) -> list[tuple[str, asyncio.Future[Answer]]]:
        """All of them at once, in the same batches."""
        data = request.payload if request.input is None else request.input
        answers = []
        for mark in marks:
            job = ResumeJob(mark.instance_id, f"b{mark.seq}", data)
            assert job.answer is not None
            self.runtime.node.submit(job)
            answers.append((job.instance_id, job.answer))
        return answers
