"""The dispatcher that executes a request at once, on this node: it answers after the commit of the burst.

For tests, and for applications that carry requests themselves and execute them where they arrive.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta

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
from holdfast.runtime.commits.jobs.base import Answer
from holdfast.runtime.commits.jobs.dispatch import RunJob
from holdfast.runtime.commits.jobs.resume import ResumeJob
from holdfast.runtime.commits.jobs.start import Start, StartJob
from holdfast.runtime.dispatchers import idempotency, validation
from holdfast.runtime.dispatchers.host import DispatchHost
from holdfast.runtime.stimuli.trigger_starts import started_id


class InlineDispatcher:
    """Implements `holdfast.ports.WorkflowDispatcher` without a queue. `delay`, `priority` and `queue` have no effect."""

    def __init__(self, host: DispatchHost) -> None:
        self._host = host

    async def dispatch(self, request: DispatchRequest, *, wait: timedelta | None = None) -> DispatchResponse:
        match request := validation.with_endpoint_key(request):
            case DispatchResume():
                return await self._resume(request)
            case DispatchDefinition():
                return (await self.begin(request))[0]
            case DispatchInstance():
                return await self._instance(request)
            case DispatchTrigger() if request.instance_id is not None:
                return await self._resume(validation.resume_of(request))
            case DispatchTrigger():
                return await self._trigger(request)
            case DispatchStimulus():
                # The node that takes its work row matches it: this node, at once.
                return await self._host.durable.dispatch(replace(request, delay=None))

    async def begin(self, request: DispatchDefinition) -> tuple[Dispatched, Answer | None]:
        """Start an instance; also returns the answer of its first burst, so that the caller need not read the instance."""
        start = await validation.start_of(self._host, request)
        return await self._begin(start, validation.key_for(request, "start", request.definition_id))

    async def _begin(self, start: Start, guard: Guard | None) -> tuple[Dispatched, Answer | None]:
        host = self._host
        if guard is not None and (known := await validation.holder_of(host, guard)) is not None:
            return Dispatched(existing=(known[0],), deleted=known[1]), None
        if (holder := await host.slot_holder(start.plan, start.correlation_id)) is not None:
            return Dispatched(existing=(holder,)), None
        answer = await host.ask(StartJob(start, () if guard is None else (guard,)))
        if answer.result is None:
            return Dispatched(existing=() if answer.existing is None else (answer.existing,)), None
        return Dispatched(instance_ids=(start.key.id,), status=answer.result.status), answer

    async def _trigger(self, request: DispatchTrigger) -> Dispatched:
        answers = []
        for row, start in await validation.triggered(self._host, request):
            guard = validation.key_for(request, "trigger", f"{row.definition_id}/{row.id}")
            key = start.key if guard is None else self._host.key(started_id(idempotency.id_of(guard), row))
            answers.append((await self._begin(replace(start, key=key), guard))[0])
        return Dispatched(
            instance_ids=tuple(name for answer in answers for name in answer.instance_ids),
            existing=tuple(name for answer in answers for name in answer.existing),
            status=answers[0].status if answers else Status.PENDING,
        )

    async def _instance(self, request: DispatchInstance) -> Dispatched:
        host, known = self._host, Dispatched(existing=(request.instance_id,))
        guard = validation.key_for(request, "dispatch", request.instance_id)
        if guard is not None and await self._was_done(guard):
            return known
        await validation.check_instance(host, request)
        answer = await host.ask(RunJob(host.tenant, request, guards=() if guard is None else (guard,)))
        if guard is not None and not await idempotency.put(host.store, host.tenant, host.clock.now(), guard):
            return known
        result = answer.result or await host.read(request.instance_id)
        return Dispatched(instance_ids=(request.instance_id,), status=result.status)

    async def _was_done(self, guard: Guard) -> bool:
        if await idempotency.find(self._host.store, self._host.tenant, guard) is not None:
            return True
        return await validation.holder_of(self._host, guard) is not None

    async def _resume(self, request: DispatchResume) -> Dispatched:
        if request.idempotency_key is not None:
            # The key is stored together with the work rows; this node takes the rows at once.
            queued = await self._host.durable.dispatch(replace(request, delay=None))
            assert isinstance(queued, Dispatched)
            return queued
        resumed: list[str] = []
        status: str = Status.PENDING
        failed: Exception | None = None
        for answering in self._resumed(await validation.waiting(self._host, request), request):
            # All jobs are queued already, so waiting for one after the other takes no longer than `gather`.
            try:
                instance_id, answer = answering[0], await answering[1]
            except (BookmarkNotFound, InstanceAtRest):
                continue  # The bookmark is gone since it was matched.
            except Exception as error:  # noqa: BLE001 - raised after all answers
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
        """Queue the jobs of all bookmarks, so that they share batches."""
        data = request.payload if request.input is None else request.input
        answers = []
        for mark in marks:
            job = ResumeJob(self._host.key(mark.instance_id), f"b{mark.seq}", data)
            assert job.answer is not None
            self._host.submit(job)
            answers.append((job.instance_id, job.answer))
        return answers
