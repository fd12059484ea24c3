"""Runs the effects of one instance: a task each, in a fresh context; results come back in the order they end.

The task that drives segments never awaits user code (rule H13). A cancellation has a cause, written before it happens: a
CancelledError that nobody caused is the fault of whoever raised it (rule M1).
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from inspect import isawaitable
from typing import Any

from holdfast import telemetry
from holdfast.errors import ActivityTimeout, ExecutionError
from holdfast.execution.context import Facts, RecordingContext
from holdfast.execution.faults import error_names, source_of, type_name
from holdfast.execution.invoke import EffectCall
from holdfast.execution.live import LiveInstance
from holdfast.execution.pipeline import ordered
from holdfast.execution.plan import Node
from holdfast.execution.record import EffectFailure, EffectRequest, Record
from holdfast.model import values
from holdfast.ports import EffectMiddleware, MiddlewarePlacement
from holdfast.runtime.pools import EffectPools

Finished = tuple[int, int, Record | EffectFailure]
"""Execution id, attempt, what came of it."""
GoOn = Callable[[Finished], bool]
"""Takes the end of the only effect that was open, where it ended; False if whoever waits has to be woken for the rest."""


class _Attempt:
    """One attempt while it runs; a later one of the same execution knows nothing of its cancellation."""

    __slots__ = ("canceled", "cause", "task")

    def __init__(self) -> None:
        self.task: asyncio.Task[None]
        self.cause: str | None = None
        """Why it was canceled, if anybody did."""
        self.canceled = False
        """What the activity's context says; a thread must look for itself."""


def around_effects(middleware: tuple[MiddlewarePlacement, ...]) -> tuple[MiddlewarePlacement, ...]:
    """What of it concerns effects, from the outside in."""
    return tuple(
        item
        for item in ordered(middleware)
        if isinstance(item, MiddlewarePlacement) and isinstance(item.middleware, EffectMiddleware)
    )


class InstanceEffects:
    """The effects of one instance that run in this process now."""

    __slots__ = ("_finished", "_go_on", "_grace", "_live", "_middleware", "_news", "_on_finished", "_open", "_pools")

    def __init__(
        self,
        live: LiveInstance,
        pools: EffectPools,
        middleware: tuple[MiddlewarePlacement, ...],
        grace: timedelta,
        on_finished: Callable[[Finished], None] | None = None,
    ) -> None:
        self._live = live
        self._on_finished = on_finished
        """Told of each end; without it, `next` hands them out."""
        self._pools = pools
        self._middleware = middleware
        self._grace = grace
        self._open: dict[int, _Attempt] = {}
        self._finished: list[Finished] = []
        self._news: asyncio.Future[None] | None = None
        self._go_on: GoOn | None = None

    # -- for the driver ------------------------------------------------------------------------------------------------

    def start(self, request: EffectRequest) -> None:
        """Begin an attempt. Its row is committed already."""
        node = self._live.plan.by_key[request.activity_id]
        attempt = _Attempt()
        bare = node.effect.bare and node.timeout is None and not self._middleware
        work = self._attempt(node, request, None if bare else self._context(request, attempt), attempt)
        attempt.task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
        self._open[request.execution_id] = attempt
        if telemetry.listeners:
            telemetry.emit("effect.started", **self._fields(node, request))

    async def next(self, go_on: GoOn | None = None) -> list[Finished]:
        """Wait until at least one effect has ended or somebody called `wake`; everything that has ended by then.

        With `go_on`, what ends alone is handed to that, and the wait is not over as long as it says so: a turn of the loop
        less for each of several effects in a row.
        """
        if not self._finished:
            self._news = asyncio.get_running_loop().create_future()
            self._go_on = go_on
            try:
                await self._news
            finally:
                self._news = self._go_on = None
        found, self._finished = self._finished, []
        return found

    def wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    async def cancel(self, execution_ids: list[int], cause: str) -> None:
        """End these; each may take the grace period to clean up, then it is left alone."""
        ending = [self._open[key] for key in execution_ids if key in self._open]
        for attempt in ending:
            attempt.cause = cause
            attempt.canceled = True
            attempt.task.cancel()
        if ending:
            await asyncio.wait([attempt.task for attempt in ending], timeout=self._grace.total_seconds())

    async def cancel_all(self, cause: str) -> None:
        await self.cancel(list(self._open), cause)

    # -- one attempt ---------------------------------------------------------------------------------------------------

    async def _attempt(
        self, node: Node, request: EffectRequest, context: RecordingContext | None, attempt: _Attempt
    ) -> None:
        key = request.execution_id
        result: Record | EffectFailure
        try:
            if context is None:
                value = await node.effect.function(**(values.copy(request.inputs) if request.inputs else {}))
                result = Record(outputs={"result": values.copy(value)})
            else:
                result = await self._outcome(node, request, context, attempt)
        except asyncio.CancelledError:
            cause = attempt.cause
            if cause is None:
                error = ExecutionError(f"'{node.key}' was canceled by the code that it called, not by anybody's wish.")
                result = failure(error)
            else:
                result = EffectFailure(type="Canceled", message=f"canceled: {cause}", cause=cause)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - code of others: whatever it raises is a fault of the activity
            result = failure(error)
        if self._open.get(key) is attempt:
            del self._open[key]
        if telemetry.listeners:
            self._tell(node, request, result)
        if self._on_finished is not None:
            self._on_finished((key, request.attempt, result))
        else:
            self._hand_out((key, request.attempt, result))

    def _hand_out(self, finished: Finished) -> None:
        news, go_on = self._news, self._go_on
        if go_on is None or news is None or self._open or news.done():
            self._finished.append(finished)
        else:
            try:
                if go_on(finished):
                    return
            except BaseException as error:  # noqa: BLE001 - it belongs to who waits, not to the task of an effect
                news.set_exception(error)
        self.wake()

    async def _outcome(
        self, node: Node, request: EffectRequest, context: RecordingContext, attempt: _Attempt
    ) -> Record:
        if node.timeout is None and not self._middleware:
            await self._invoke(node.effect, request, context)
        else:
            await self._surrounded(node, request, context, attempt)
        context.record.state = context.state
        return context.record

    async def _surrounded(
        self, node: Node, request: EffectRequest, context: RecordingContext, attempt: _Attempt
    ) -> None:
        """With middleware around it, and within its time."""
        call = partial(self._invoke, node.effect, request, context)
        for placement in reversed(self._middleware):
            if not placement.types or node.definition.type in placement.types:
                call = partial(placement.middleware.around_effect, context, call)
        if node.timeout is None:
            await call()
        else:
            await self._within(node.timeout, node, attempt, call)

    async def _within(
        self, limit: timedelta, node: Node, attempt: _Attempt, call: Callable[[], Awaitable[Any]]
    ) -> None:
        try:
            async with asyncio.timeout(limit.total_seconds()) as deadline:
                await call()
        except TimeoutError:
            if not deadline.expired():
                raise
            attempt.canceled = True
            raise ActivityTimeout(node.key, str(limit)) from None

    async def _invoke(self, call: EffectCall, request: EffectRequest, context: RecordingContext) -> None:
        inputs = values.copy(request.inputs) if request.inputs else {}
        if call.mode == "async":
            result = call.run(inputs, context, request.method, request.argument)
            if isawaitable(result):
                await result
        elif call.mode == "process":
            assert call.function is not None
            context.set_output("result", await self._pools.in_process(call.function, inputs))
        else:
            await self._pools.in_thread(lambda: call.run(inputs, context, request.method, request.argument))

    def _context(self, request: EffectRequest, attempt: _Attempt) -> RecordingContext:
        live, key = self._live, request.execution_id
        activation = live.waiters[key]
        facts = Facts(
            instance_id=live.id,
            correlation_id=live.correlation_id,
            definition_id=live.definition_id,
            activity_id=request.activity_id,
            execution_id=key,
            attempt=request.attempt,
            now=live.moment(),
            trace=live.trace,
        )
        kept = activation.data.get("state") if activation.data.__class__ is dict else None
        state = values.copy(kept) if kept else {}
        return RecordingContext(facts, live.services, state, is_canceled=lambda: attempt.canceled)

    # -- telling -------------------------------------------------------------------------------------------------------

    def _fields(self, node: Node, request: EffectRequest) -> dict[str, Any]:
        return {
            "instance_id": self._live.id,
            "definition_id": self._live.definition_id,
            "activity_id": node.key,
            "activity_type": node.definition.type,
            "attempt": request.attempt,
        }

    def _tell(self, node: Node, request: EffectRequest, result: Record | EffectFailure) -> None:
        fields = self._fields(node, request)
        if isinstance(result, Record):
            telemetry.emit("effect.finished", **fields)
        elif result.cause == "timeout":
            telemetry.emit("effect.timed_out", **fields)
        else:
            telemetry.emit("effect.faulted", **fields, type=result.type)


def failure(error: BaseException) -> EffectFailure:
    """An exception as data, with the exception itself for those in this process."""
    names = error_names(error)
    return EffectFailure(
        type=type_name(error),
        message=str(error),
        bases=names[1:],
        source=source_of(error),
        cause="timeout" if isinstance(error, ActivityTimeout) else "fault",
        error=error,
    )
