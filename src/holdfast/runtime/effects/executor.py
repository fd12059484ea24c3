"""Runs effects: a task each, in a fresh context; results come back in the order they end.

The task that drives segments never awaits user code (rule H13). A cancellation has a cause, written before it happens: a
CancelledError that nobody caused is the fault of whoever raised it (rule M1).
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable, Iterable
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
from holdfast.runtime.effects.pools import EffectPools

logger = logging.getLogger("holdfast")

Finished = tuple[int, int, Record | EffectFailure]
"""Execution id, attempt, what came of it."""
GoOn = Callable[[Finished], bool]
"""Takes the end of the only effect that was open, where it ended; False if whoever waits has to be woken for the rest."""


class Attempt:
    """One attempt from its start to its end; a later one of the same execution knows nothing of its cancellation."""

    __slots__ = ("canceled", "cause", "left", "live", "request", "task")

    def __init__(self, live: LiveInstance, request: EffectRequest) -> None:
        self.live = live
        self.request = request
        self.task: asyncio.Task[None] | None = None
        """None as long as it is not begun."""
        self.cause: str | None = None
        """Why it was canceled, if anybody did."""
        self.canceled = False
        """What the activity's context says; a thread must look for itself."""
        self.left = False
        """It goes on though its time is over, and nobody waits for what it says."""

    def cancel(self, cause: str) -> asyncio.Task[None] | None:
        """Its task, which may take a while to clean up; None if it was never begun."""
        self.cause = cause
        self.canceled = True
        if self.task is not None:
            self.task.cancel()
        return self.task


Heard = Callable[[Attempt, Record | EffectFailure], None]


def around_effects(middleware: tuple[MiddlewarePlacement, ...]) -> tuple[MiddlewarePlacement, ...]:
    """What of it concerns effects, from the outside in."""
    return tuple(
        item
        for item in ordered(middleware)
        if isinstance(item, MiddlewarePlacement) and isinstance(item.middleware, EffectMiddleware)
    )


async def ended(tasks: Iterable[asyncio.Task[None] | None], grace: timedelta) -> None:
    """Wait for what was canceled; each may take the grace period to clean up, then it is left alone."""
    ending = [task for task in tasks if task is not None]
    if ending:
        await asyncio.wait(ending, timeout=grace.total_seconds())


class InstanceEffects:
    """The effects of one instance that a driver runs in this process now."""

    __slots__ = ("_finished", "_go_on", "_grace", "_live", "_news", "_open", "_tasks")

    def __init__(
        self,
        live: LiveInstance,
        pools: EffectPools,
        middleware: tuple[MiddlewarePlacement, ...],
        grace: timedelta,
    ) -> None:
        self._live = live
        self._tasks = EffectTasks(pools, middleware, grace, self._ended)
        self._grace = grace
        self._open: dict[int, Attempt] = {}
        self._finished: list[Finished] = []
        self._news: asyncio.Future[None] | None = None
        self._go_on: GoOn | None = None

    def start(self, request: EffectRequest) -> None:
        """Begin an attempt. Its row is committed already."""
        attempt = self._open[request.execution_id] = Attempt(self._live, request)
        self._tasks.begin(attempt)

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
        """End these, within the grace period."""
        await ended([self._open[key].cancel(cause) for key in execution_ids if key in self._open], self._grace)

    async def cancel_all(self, cause: str) -> None:
        await self.cancel(list(self._open), cause)

    def _ended(self, attempt: Attempt, result: Record | EffectFailure) -> None:
        request = attempt.request
        key = request.execution_id
        if self._open.get(key) is attempt:
            del self._open[key]
        finished = (key, request.attempt, result)
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


class EffectTasks:
    """Runs attempts, of whatever instance, as a task each, and tells how each ended."""

    __slots__ = ("_grace", "_heard", "_middleware", "_pools")

    def __init__(
        self, pools: EffectPools, middleware: tuple[MiddlewarePlacement, ...], grace: timedelta, heard: Heard
    ) -> None:
        self._pools = pools
        self._middleware = middleware
        self._grace = grace
        self._heard = heard

    def begin(self, attempt: Attempt) -> None:
        request = attempt.request
        node = attempt.live.plan.by_key[request.activity_id]
        bare = node.effect.bare and node.timeout is None and not self._middleware
        work = self._run(node, attempt, None if bare else _context(attempt))
        attempt.task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
        if telemetry.listeners:
            telemetry.emit("effect.started", **_fields(node, attempt))

    # -- one attempt ---------------------------------------------------------------------------------------------------

    async def _run(self, node: Node, attempt: Attempt, context: RecordingContext | None) -> None:
        result: Record | EffectFailure
        try:
            if context is None:
                function, inputs = node.effect.function, _by_value(attempt.request.inputs)
                if node.effect.mode == "async":
                    value = await function(**inputs)
                else:
                    value = await self._pools.in_thread(partial(function, **inputs))
                result = Record(outputs={"result": values.copy(value)})
            else:
                result = await self._outcome(node, attempt, context)
        except asyncio.CancelledError:
            result = _canceled(node, attempt.cause)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - code of others: whatever it raises is a fault of the activity
            result = failure(error)
        if not attempt.left:
            self._tell(node, attempt, result)

    def _tell(self, node: Node, attempt: Attempt, result: Record | EffectFailure) -> None:
        if telemetry.listeners:
            _emit(node, attempt, result)
        self._heard(attempt, result)

    async def _outcome(self, node: Node, attempt: Attempt, context: RecordingContext) -> Record:
        request = attempt.request
        if node.timeout is None and not self._middleware:
            await self._invoke(node.effect, request, context)
        else:
            await self._surrounded(node, attempt, context)
        context.record.state = context.state
        return context.record

    async def _surrounded(self, node: Node, attempt: Attempt, context: RecordingContext) -> None:
        """With middleware around it, and within its time."""
        call = partial(self._invoke, node.effect, attempt.request, context)
        for placement in reversed(self._middleware):
            if not placement.types or node.definition.type in placement.types:
                call = partial(placement.middleware.around_effect, context, call)
        if node.timeout is None:
            await call()
        else:
            await self._within(node.timeout, node, attempt, call)

    async def _within(self, limit: timedelta, node: Node, attempt: Attempt, call: Callable[[], Awaitable[Any]]) -> None:
        over = (limit + self._grace).total_seconds()
        leaving = asyncio.get_running_loop().call_later(over, self._leave, limit, node, attempt)
        try:
            async with asyncio.timeout(limit.total_seconds()) as deadline:
                await call()
        except TimeoutError:
            if not deadline.expired():
                raise
            attempt.canceled = True
            raise ActivityTimeout(node.key, str(limit)) from None
        finally:
            leaving.cancel()

    def _leave(self, limit: timedelta, node: Node, attempt: Attempt) -> None:
        """It was canceled when its time was over, and goes on: its code keeps the cancellation to itself."""
        if attempt.cause is not None:
            return  # Somebody canceled it before: nobody waits for it.
        attempt.left = attempt.canceled = True
        logger.warning("'%s' of instance %s goes on though its time is over", node.key, attempt.live.id)
        self._tell(node, attempt, failure(ActivityTimeout(node.key, str(limit))))

    async def _invoke(self, call: EffectCall, request: EffectRequest, context: RecordingContext) -> None:
        inputs = _by_value(request.inputs)
        if call.mode == "async":
            result = call.run(inputs, context, request.method, request.argument)
            if isawaitable(result):
                await result
        elif call.mode == "process":
            assert call.function is not None
            context.set_output("result", await self._pools.in_process(call.function, inputs))
        else:
            await self._pools.in_thread(lambda: call.run(inputs, context, request.method, request.argument))


def _by_value(inputs: dict[str, Any]) -> dict[str, Any]:
    """What the activity changes in them stays with the activity; most are scalars, and a call copies the rest of a dict."""
    return inputs if values.SCALARS.issuperset(map(type, inputs.values())) else values.copy(inputs)


def _context(attempt: Attempt) -> RecordingContext:
    live, request = attempt.live, attempt.request
    key = request.execution_id
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


# -- telling -----------------------------------------------------------------------------------------------------------


def _fields(node: Node, attempt: Attempt) -> dict[str, Any]:
    return {
        "instance_id": attempt.live.id,
        "definition_id": attempt.live.definition_id,
        "activity_id": node.key,
        "activity_type": node.definition.type,
        "attempt": attempt.request.attempt,
    }


def _emit(node: Node, attempt: Attempt, result: Record | EffectFailure) -> None:
    fields = _fields(node, attempt)
    if isinstance(result, Record):
        telemetry.emit("effect.finished", **fields)
    elif result.cause == "timeout":
        telemetry.emit("effect.timed_out", **fields)
    else:
        telemetry.emit("effect.faulted", **fields, type=result.type)


def _canceled(node: Node, cause: str | None) -> EffectFailure:
    if cause is None:
        return failure(ExecutionError(f"'{node.key}' was canceled by the code that it called, not by anybody's wish."))
    return EffectFailure(type="Canceled", message=f"canceled: {cause}", cause=cause)


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
